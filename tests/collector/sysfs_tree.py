# SPDX-License-Identifier: Apache-2.0
"""A small sysfs tree as the kernel lays it out, with mlx5 adapters: for tests and benchmarks of weft-collector."""

import os

# Of an mlx5 port, as Linux 6.1 names them, and what a healthy port says.
COUNTERS = {
    "VL15_dropped": 0, "excessive_buffer_overrun_errors": 0, "link_downed": 0, "link_error_recovery": 0, "local_link_integrity_errors": 0,
    "multicast_rcv_packets": 12, "multicast_xmit_packets": 11, "port_rcv_constraint_errors": 0, "port_rcv_data": 1_000_000,
    "port_rcv_errors": 0, "port_rcv_packets": 40_000, "port_rcv_remote_physical_errors": 0, "port_rcv_switch_relay_errors": 0,
    "port_xmit_constraint_errors": 0, "port_xmit_data": 2_000_000, "port_xmit_discards": 0, "port_xmit_packets": 50_000,
    "port_xmit_wait": 0, "symbol_error": 0, "unicast_rcv_packets": 39_988, "unicast_xmit_packets": 49_989,
}
HW_COUNTERS = {
    "duplicate_request": 0, "implied_nak_seq_err": 0, "lifespan": 10, "local_ack_timeout_err": 0, "np_cnp_sent": 5,
    "np_ecn_marked_roce_packets": 6, "out_of_buffer": 0, "out_of_sequence": 3, "packet_seq_err": 2, "req_cqe_error": 0,
    "req_cqe_flush_error": 0, "req_remote_access_errors": 0, "req_remote_invalid_request": 0, "req_transport_retries_exceeded": 0,
    "resp_cqe_error": 0, "resp_cqe_flush_error": 0, "resp_local_length_error": 0, "resp_remote_access_errors": 0,
    "rnr_nak_retry_err": 0, "roce_adp_retrans": 0, "roce_adp_retrans_to": 0, "roce_slow_restart": 0, "roce_slow_restart_cnps": 0,
    "roce_slow_restart_trans": 0, "rp_cnp_handled": 7, "rp_cnp_ignored": 0, "rx_atomic_requests": 0, "rx_icrc_encapsulated": 0,
    "rx_read_requests": 0, "rx_write_requests": 0,
}


def write(path: str, text) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # In place: whoever has it open sees it.
    with open(path, "w", encoding="ascii") as stream:
        stream.write(f"{text}\n")


def rewrite(path: str, text) -> None:
    """In one write: whoever has the file open reads what it said or what it says, and never that it is empty. Padded with blanks, so
    that nothing of a longer text stays behind."""
    file = os.open(path, os.O_WRONLY)
    try:
        os.pwrite(file, f"{text}\n".rjust(24).encode("ascii"), 0)
    finally:
        os.close(file)


def link(target: str, place: str) -> None:
    os.makedirs(os.path.dirname(place), exist_ok=True)
    os.symlink(os.path.relpath(target, os.path.dirname(place)), place)


def guid_text(guid: int) -> str:
    """As sysfs spells it: b83f:d203:0000:0001."""
    return ":".join(f"{guid >> shift & 0xFFFF:04x}" for shift in (48, 32, 16, 0))


def function_of(root: str, number: int) -> str:
    """The folder of the PCI function of mlx5_<number>, below its bridge where it has one."""
    return os.path.realpath(os.path.join(root, "class", "infiniband", f"mlx5_{number}", "device"))


def add_adapter(root: str, number: int, guid: int | None = None, port_guid: int | None = None, bridge: str = "") -> str:
    """The folder of mlx5_<number>. Its port has the adapter's GUID unless another is given. `bridge`: address of the root port above it."""
    address = f"0000:{0x10 + number:02x}:00.0"
    function = os.path.join(root, "devices", "pci0000:00", bridge, address)
    driver = os.path.join(root, "bus", "pci", "drivers", "mlx5_core")
    os.makedirs(driver, exist_ok=True)
    os.makedirs(function)
    link(driver, os.path.join(function, "driver"))
    device = os.path.join(function, "infiniband", f"mlx5_{number}")
    if guid is None:
        guid = 0xB83FD203_0000_0000 + number
    if port_guid is None:
        port_guid = guid
    for name, text in {"node_guid": guid_text(guid), "sys_image_guid": guid_text(guid), "fw_ver": "28.39.1002", "board_id": "MT_0000000838", "hca_type": "MT4129",
                       "node_type": "1: CA", "node_desc": f"node mlx5_{number}"}.items():
        write(os.path.join(device, name), text)
    port = os.path.join(device, "ports", "1")
    for name, text in {"state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": "400 Gb/sec (4X NDR)", "lid": f"0x{number + 1:x}",
                       "sm_lid": "0x1", "sm_sl": "0", "lid_mask_count": "0", "link_layer": "InfiniBand", "cap_mask": "0xa751e848",
                       "gids/0": f"fe80:0000:0000:0000:{guid_text(port_guid)}"}.items():
        write(os.path.join(port, name), text)
    for folder, counters in (("counters", COUNTERS), ("hw_counters", HW_COUNTERS)):
        for name, value in counters.items():
            write(os.path.join(port, folder, name), value)
    link(function, os.path.join(device, "device"))
    link(device, os.path.join(root, "class", "infiniband", f"mlx5_{number}"))
    return device


def make(root: str, adapters: int) -> list[str]:
    """A whole tree; the folders of its adapters."""
    os.makedirs(os.path.join(root, "class", "net"), exist_ok=True)
    return [add_adapter(root, number) for number in range(adapters)]
