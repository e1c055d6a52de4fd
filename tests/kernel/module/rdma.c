// SPDX-License-Identifier: GPL-2.0
/* The RDMA device: port counters, nothing that moves data. */
#include <net/addrconf.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "script.h"

struct rdma {
	struct ib_device ib; /* first: ib_alloc_device() wants it there */
	struct nic *nic;
};

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	attr->max_pkeys = 1;
	return 0;
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	struct net_device *dev = container_of(ib, struct rdma, ib)->nic->netdev;
	bool up = netif_running(dev) && netif_carrier_ok(dev);

	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_DISABLED;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_EDR;
	attr->max_mtu = attr->active_mtu = IB_MTU_4096;
	attr->gid_tbl_len = 16;
	attr->pkey_tbl_len = 1;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int get_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP | RDMA_CORE_CAP_ETH_AH;
	immutable->gid_tbl_len = 16;
	immutable->pkey_tbl_len = 1;
	return 0;
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = 0xffff;
	return 0;
}

static void get_dev_fw_str(struct ib_device *ib, char *text)
{
	strscpy(text, firmware, IB_FW_VERSION_NAME_MAX);
}

static struct rdma_hw_stats *alloc_hw_port_stats(struct ib_device *ib, u32 port)
{
	struct rdma_hw_stats *stats =
		rdma_alloc_hw_stats_struct(counter_descs, counter_count, RDMA_HW_STATS_DEFAULT_LIFESPAN);
	int i;

	for (i = 0; stats && i < counter_count; i++)
		if (counter_descs[i].flags & IB_STAT_FLAG_OPTIONAL)
			set_bit(i, stats->is_disabled); /* until "rdma statistic set" asks for it */
	return stats;
}

static int get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 port, int index)
{
	int i;

	for (i = 0; i < counter_count; i++)
		stats->value[i] = value_or(counter_descs[i].name, 0);
	return counter_count;
}

static int modify_hw_stat(struct ib_device *ib, u32 port, unsigned int index, bool enable)
{
	return 0; /* the core remembers which optional counters are on */
}

/* The performance management agent, as sysfs' counters/ asks it (InfiniBand vol. 1, 16.1.3.5 and 16.1.4.11). */
static int process_mad(struct ib_device *ib, int flags, u32 port, const struct ib_wc *wc, const struct ib_grh *grh,
		       const struct ib_mad *in, struct ib_mad *out, size_t *out_size, u16 *pkey_index)
{
	void *data = out->data + 40;

	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT)
		return IB_MAD_RESULT_SUCCESS;
	if (in->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO) {
		((struct ib_class_port_info *)data)->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
	} else if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS) {
		struct ib_pma_portcounters *pma = data;

		pma->symbol_error_counter = cpu_to_be16(value_or("pma.symbol_error", 0));
		pma->link_error_recovery_counter = value_or("pma.link_error_recovery", 0);
		pma->link_downed_counter = value_or("pma.link_downed", 0);
		pma->port_rcv_errors = cpu_to_be16(value_or("pma.port_rcv_errors", 0));
		pma->port_xmit_discards = cpu_to_be16(value_or("pma.port_xmit_discards", 0));
		pma->port_xmit_wait = cpu_to_be32(value_or("pma.port_xmit_wait", 0));
	} else if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS_EXT) {
		struct ib_pma_portcounters_ext *pma = data;

		pma->port_xmit_data = cpu_to_be64(value_or("pma.port_xmit_data", 0));
		pma->port_rcv_data = cpu_to_be64(value_or("pma.port_rcv_data", 0));
		pma->port_xmit_packets = cpu_to_be64(value_or("pma.port_xmit_packets", 0));
		pma->port_rcv_packets = cpu_to_be64(value_or("pma.port_rcv_packets", 0));
	}
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

static const struct ib_device_ops ib_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.query_device = query_device,
	.query_port = query_port,
	.query_pkey = query_pkey,
	.get_link_layer = get_link_layer,
	.get_port_immutable = get_port_immutable,
	.get_dev_fw_str = get_dev_fw_str,
	.alloc_hw_port_stats = alloc_hw_port_stats,
	.get_hw_stats = get_hw_stats,
	.modify_hw_stat = modify_hw_stat,
	.process_mad = process_mad,
};

int add_rdma(struct nic *nic)
{
	struct rdma *rdma = ib_alloc_device(rdma, ib);
	int error;

	if (!rdma)
		return -ENOMEM;
	rdma->nic = nic;
	rdma->ib.node_type = RDMA_NODE_IB_CA;
	rdma->ib.phys_port_cnt = 1;
	rdma->ib.num_comp_vectors = 1;
	rdma->ib.dev.parent = &nic->pci->dev;
	addrconf_addr_eui48((u8 *)&rdma->ib.node_guid, nic->netdev->dev_addr);
	strscpy(rdma->ib.node_desc, "scripted", sizeof(rdma->ib.node_desc));
	ib_set_device_ops(&rdma->ib, &ib_ops);
	error = ib_device_set_netdev(&rdma->ib, nic->netdev, 1);
	if (!error)
		error = ib_register_device(&rdma->ib, ibdev, NULL);
	if (error)
		ib_dealloc_device(&rdma->ib);
	else
		nic->rdma = rdma;
	return error;
}

void remove_rdma(struct nic *nic)
{
	if (!nic->rdma)
		return;
	ib_unregister_device(&nic->rdma->ib);
	ib_dealloc_device(&nic->rdma->ib);
}
