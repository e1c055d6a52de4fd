// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/collector/ras_answer.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weft::collector {
namespace {

const std::string kHead = "SERVER PROTOCOL 2\nOK\nOK\n";
/// A server before 2.28.7: it knows no formats.
const std::string kOldHead = "SERVER PROTOCOL 2\nOK\nERROR: Unknown command SET FORMAT json\n";

/// As jsonWriteRankData() and jsonWriteMissingRank() of src/ras/client_support.cc write them.
std::string rank(int number, const std::string& host, int reduced) {
  return R"({"rank": )" + std::to_string(number) + R"(, "host": ")" + host +
         R"(", "pid": 7, "cuda_dev": 0, "nvml_dev": 0, "status": {"init_state": 0, "async_error": 0, )" +
         R"("finalize_called": false, "destroy_flag": false, "abort_flag": false}, "collective_counts": )" +
         R"({"Broadcast": 3, "AllReduce": )" + std::to_string(reduced) + "}}";
}
std::string missing(int number, const std::string& host, bool is_silent, bool is_dead) {
  return R"({"rank": )" + std::to_string(number) + R"(, "host": ")" + host +
         R"(", "pid": 7, "cuda_dev": 0, "nvml_dev": 0, "status": {"unresponsive": )" + (is_silent ? "true" : "false") +
         R"(, "considered_dead": )" + (is_dead ? "true" : "false") + "}}";
}
std::string communicator(int size, const std::string& ranks, const std::string& lost) {
  return R"({"hash": "0xae", "secondary_hash": "0xb7:0xb8", "size": )" + std::to_string(size) +
         R"(, "ranks_count": 1, "missing_ranks_count": 1, "ranks": [)" + ranks + R"(], "missing_ranks": [)" + lost +
         "]}";
}
std::string status(const std::string& communicators) {
  return R"({"nccl_version": "2.30.7", "timestamp": "2026-11-29 13:06:53", "communicators_count": 1, "communicators": [)" +
         communicators + R"(], "ras": {"collection_time_sec": 0.000, "timeouts_count": 0}})" + "\n";
}

std::string text_of(const std::string& answer) {
  const auto ranks = parse_ras_answer(answer);
  return ranks ? to_text(*ranks) : "refused: " + ranks.error().message;
}

TEST(RasAnswer, NamesRanksThatAreMissingOrDead) {
  EXPECT_EQ(text_of(kHead + status(communicator(2, rank(0, "10.0.0.1", 9) + "," + rank(1, "10.0.0.2", 9), ""))),
            "2 ranks: all answer");
  EXPECT_EQ(text_of(kHead + status(communicator(32, rank(0, "10.0.0.1", 9),
                                                missing(20, "10.0.0.4", true, false) + "," +
                                                    missing(21, "10.0.0.3", true, true) + "," +
                                                    missing(22, "10.0.0.3", true, false)))),
            "32 ranks: dead 21 at 10.0.0.3, missing 20 at 10.0.0.4");
  // It is reached, and has left its communicator; of another one nothing is known but its number.
  EXPECT_EQ(text_of(kHead + status(communicator(
                                4, rank(0, "10.0.0.1", 9),
                                missing(1, "10.0.0.2", false, false) + "," + missing(2, "unknown", true, false)))),
            "4 ranks: all answer");
}

TEST(RasAnswer, NamesRanksThatHaveLaunchedFewer) {
  const std::string others = rank(0, "10.0.0.1", 9) + "," + rank(1, "10.0.0.2", 9) + ",";
  EXPECT_EQ(text_of(kHead + status(communicator(3, others + rank(2, "10.0.0.3", 8), ""))),
            "3 ranks: behind 2 at 10.0.0.3");
  // Half of them: nobody knows who waits for whom.
  EXPECT_EQ(
      text_of(kHead + status(communicator(4, others + rank(2, "10.0.0.3", 8) + "," + rank(3, "10.0.0.4", 8), ""))),
      "4 ranks: all answer");
  // In each communicator by itself.
  EXPECT_EQ(text_of(kHead + status(communicator(2, rank(0, "10.0.0.1", 9), "") + "," +
                                   communicator(2, rank(0, "10.0.0.2", 4), ""))),
            "2 ranks: all answer");
}

TEST(RasAnswer, ReadsTextOfOlderServers) {
  // docs/userguide/source/troubleshooting/ras.rst, and the lines of src/ras/client_support.cc.
  const std::string summary =
      "NCCL version 2.26.2 compiled with CUDA 12.8\nCUDA runtime version 12080, driver version 12080\n\n"
      "Job summary\n===========\n\n  Nodes  Processes         GPUs  Processes     GPUs\n"
      "(total)   per node  per process    (total)  (total)\n      4          8            1         32       32\n\n"
      "Communicators... (2.05s)\n=============\n\n"
      "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
      "    #  in group  per comm  per node  per comm  in group\n"
      "    0         1         4       7-8        32        32   RUNNING  INCOMPLETE\n\n";
  EXPECT_EQ(text_of(kOldHead + summary + "Errors\n======\n\nWarnings\n========\n\n"), "32 ranks: all answer");
  EXPECT_EQ(text_of(kOldHead + summary +
                    "Errors\n======\n\nINCOMPLETE\n  Missing communicator data from 1 job process\n"
                    "  Process 3487984 on node 172.16.64.213 managing GPU 5\n\n"
                    "#0-0 (cf264af53edbe986) INCOMPLETE\n  Missing communicator data from 1 rank\n"
                    "  Rank 21 -- GPU 5 managed by process 3487984 on node 172.16.64.213\n\n"
                    "Warnings\n========\n\nTIMEOUT\n  Encountered 2 communication timeouts while gathering data\n\n"),
            "32 ranks: missing 21 at 172.16.64.213");
  EXPECT_EQ(text_of(kOldHead + summary +
                    "Errors\n======\n\nDEAD\n  1 job process is considered dead (unreachable via the RAS network)\n"
                    "  Process 3487984 on node 172.16.64.213 managing GPU 5\n\n"),
            "32 ranks: dead ? at 172.16.64.213");
  EXPECT_EQ(text_of(kOldHead + summary +
                    "Warnings\n========\n\n#0-0 (27a079b828ff1a75) MISMATCH\n"
                    "  Communicator ranks have different AllReduce operation counts\n"
                    "  31 ranks have launched up to operation 6650\n"
                    "  Rank 3 has launched up to operation 6649 -- GPU 3 managed by process 483075 on node 10.0.0.9\n"),
            "32 ranks: behind 3 at 10.0.0.9");
}

TEST(RasAnswer, RefusesWhatIsNoneOrNotAllOfIt) {
  const std::string whole = kHead + status(communicator(2, rank(0, "10.0.0.1", 9), missing(1, "h", true, true)));
  for (std::size_t length = 0; length + 2 < whole.size(); ++length)
    EXPECT_FALSE(parse_ras_answer(std::string_view(whole).substr(0, length))) << length;
  for (const char* const other : {"HTTP/1.1 400 Bad Request\r\n\r\n", "SERVER PROTOCOL 2\nOK\nOK\n{}",
                                  "SERVER PROTOCOL 2\nOK\nOK\n[]", "SERVER PROTOCOL 2\nOK\nOK\nJob summary\n"})
    EXPECT_FALSE(parse_ras_answer(other)) << other;
  EXPECT_FALSE(parse_ras_answer(kHead + std::string(100'000, '[')));
  std::string deep = kHead;
  for (int i = 0; i < 1000; ++i) deep += R"({"a":)";
  EXPECT_FALSE(parse_ras_answer(deep));
}

}  // namespace
}  // namespace weft::collector
