#include "daemon/store/collector_table.hpp"

namespace weft::store {

void write_collectors(Database& database, std::span<const CollectorMark> marks) {
  Statement put(database,
                "INSERT INTO collector (host, spool, sequence, batches, late, lost, first_seen, last_seen) "
                "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE SET spool = ?2, sequence = ?3, "
                "batches = ?4, late = ?5, lost = ?6, last_seen = ?8");
  for (const CollectorMark& mark : marks)
    put.run(mark.host, mark.spool, mark.sequence, mark.batches, mark.late, mark.lost, mark.first_seen, mark.last_seen);
}

void delete_collectors(Database& database, std::span<const std::string> hosts) {
  Statement drop(database, "DELETE FROM collector WHERE host = ?");
  for (const std::string& host : hosts) drop.run(host);
}

std::vector<CollectorMark> read_collectors(Database& database) {
  std::vector<CollectorMark> marks;
  Statement rows(
      database,
      "SELECT host, spool, sequence, batches, late, lost, first_seen, last_seen FROM collector ORDER BY host");
  rows.query();
  while (rows.next())
    marks.push_back({rows.text(0), rows.bits(1), rows.bits(2), rows.bits(3), rows.bits(4), rows.bits(5), rows.time(6),
                     rows.time(7)});
  return marks;
}

}  // namespace weft::store
