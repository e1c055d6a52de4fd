// SPDX-License-Identifier: Apache-2.0
#pragma once
// A sysfs tree in a temporary folder, laid out as kernels do it: devices below devices/, links below class/.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>

namespace weft::tests {

namespace fs = std::filesystem;

class SysfsTree {
 public:
  SysfsTree() {
    std::string pattern = (fs::temp_directory_path() / "weft-sysfs-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    fs::create_directories(root_ / "class/infiniband");
    fs::create_directories(root_ / "class/net");
  }
  SysfsTree(const SysfsTree&) = delete;
  SysfsTree& operator=(const SysfsTree&) = delete;
  ~SysfsTree() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  std::string root() const { return root_.string(); }
  fs::path at(const fs::path& place) const { return root_ / place; }

  /// Writes a file, in place when it is there, so that whoever has it open sees it.
  void write(const fs::path& place, const std::string& text) const {
    fs::create_directories(at(place).parent_path());
    std::ofstream(at(place), std::ios::trunc) << text;
  }
  void write_all(const fs::path& folder, std::initializer_list<std::pair<const char*, const char*>> files) const {
    for (const auto& [name, text] : files) write(folder / name, std::string(text) + "\n");
  }

  /// A function on the bus with its driver; an empty driver leaves the link out.
  void add_function(const std::string& address, const std::string& driver) const {
    fs::create_directories(at("devices/pci0000:00/" + address));
    if (driver.empty()) return;
    fs::create_directories(at("bus/pci/drivers/" + driver));
    fs::create_directory_symlink(at("bus/pci/drivers/" + driver), at("devices/pci0000:00/" + address + "/driver"));
  }
  /// An interface of a function.
  void add_interface(const std::string& address, const std::string& name, const std::string& ifindex,
                     const std::string& dev_port = "0") const {
    const fs::path place = "devices/pci0000:00/" + address + "/net/" + name;
    write_all(place, {{"ifindex", ifindex.c_str()}, {"dev_port", dev_port.c_str()}});
    fs::create_directory_symlink(at(place), at("class/net/" + name));
    fs::create_directory_symlink(at("devices/pci0000:00/" + address), at(place / "device"));
  }
  /// Names an interface's port as devlink does: "p0" for one of the adapter's own, "pf0vf0" for a representor.
  void name_port(const std::string& interface, const std::string& port) const {
    write(fs::path("class/net") / interface / "phys_port_name", port + "\n");
  }
  /// A bond above interfaces that are there already.
  void add_bond(const std::string& name, const std::string& ifindex,
                std::initializer_list<const char*> interfaces) const {
    const fs::path place = "devices/virtual/net/" + name;
    std::string slaves;
    for (const char* interface : interfaces) {
      slaves += (slaves.empty() ? "" : " ") + std::string(interface);
      fs::create_directory_symlink(at(place), at(fs::path("class/net") / interface / "master"));
    }
    write_all(place, {{"ifindex", ifindex.c_str()}, {"bonding/slaves", slaves.c_str()}});
    fs::create_directory_symlink(at(place), at("class/net/" + name));
  }
  /// Says that a function is a virtual one of `physical`.
  void make_virtual(const std::string& address, const std::string& physical) const {
    fs::create_directory_symlink(at("devices/pci0000:00/" + physical), at("devices/pci0000:00/" + address + "/physfn"));
  }
  /// An RDMA device of a function; without an address a software device. Gives its folder.
  fs::path add_device(const std::string& address, const std::string& name) const {
    const fs::path place =
        (address.empty() ? "devices/virtual" : "devices/pci0000:00/" + address) / fs::path("infiniband") / name;
    fs::create_directories(at(place / "ports"));
    if (!address.empty()) fs::create_directory_symlink(at("devices/pci0000:00/" + address), at(place / "device"));
    fs::create_directory_symlink(at(place), at("class/infiniband/" + name));
    return place;
  }
  void remove_device(const fs::path& place) const {
    fs::remove(at("class/infiniband") / place.filename());
    fs::remove_all(at(place));
  }

  /// A ConnectX-7 on InfiniBand: "mlx5_0" at 0000:17:00.0 with the interface ib0. Gives the folder of its port.
  fs::path add_mlx5() const {
    add_function("0000:17:00.0", "mlx5_core");
    add_interface("0000:17:00.0", "ib0", "7");
    const fs::path device = add_device("0000:17:00.0", "mlx5_0");
    write_all(device, {{"node_guid", "0a7f:bc12:45ef:d23b"},
                       {"fw_ver", "28.39.1002"},
                       {"board_id", "MT_0000000838"},
                       {"hca_type", "MT4129"}});
    const fs::path port = device / "ports/1";
    write_all(port, {{"state", "4: ACTIVE"},
                     {"phys_state", "5: LinkUp"},
                     {"rate", "400 Gb/sec (4X NDR)"},
                     {"lid", "0x1a"},
                     {"link_layer", "InfiniBand"},
                     {"gids/0", "fe80:0000:0000:0000:0a7f:bc12:45ef:d23c"}});
    write_all(port / "counters", {{"port_xmit_data", "1000"},
                                  {"port_rcv_data", "18446744073709551615"},
                                  {"port_xmit_packets", "20"},
                                  {"port_xmit_wait", "4294967295"},
                                  {"link_downed", "255"},
                                  {"symbol_error", "N/A (no PMA)"},
                                  {"port_rcv_errors", ""},
                                  {"VL15_dropped", "3"}});
    write_all(port / "hw_counters", {{"out_of_sequence", "4294967295"},
                                     {"np_cnp_sent", "8589934592"},
                                     {"rx_read_requests", "77"},
                                     {"lifespan", "10"}});
    return port;
  }

 private:
  fs::path root_;
};

}  // namespace weft::tests
