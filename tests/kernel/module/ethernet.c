// SPDX-License-Identifier: GPL-2.0
/* The network device: ethtool's operations and DCB. A value that was not scripted is not told where that can be said. */
#include <linux/dcbnl.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <net/dcbnl.h>

#include "script.h"

#define UNKNOWN (~0ULL) /* ETHTOOL_STAT_NOT_SET */

static u64 numbered(const char *format, int number, u64 otherwise)
{
	char name[48];

	snprintf(name, sizeof(name), format, number);
	return value_or(name, otherwise);
}

static int set_numbered(const char *format, int number, u64 value)
{
	char name[48];

	snprintf(name, sizeof(name), format, number);
	return set_value(name, value);
}

static netdev_tx_t transmit(struct sk_buff *skb, struct net_device *dev)
{
	dev->stats.tx_packets++;
	dev->stats.tx_bytes += skb->len;
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops netdev_ops = { .ndo_start_xmit = transmit };

static void get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	struct nic *nic = *(struct nic **)netdev_priv(dev);

	strscpy(info->driver, driver, sizeof(info->driver));
	strscpy(info->fw_version, firmware, sizeof(info->fw_version));
	strscpy(info->bus_info, pci_name(nic->pci), sizeof(info->bus_info));
}

static int get_sset_count(struct net_device *dev, int set)
{
	return set == ETH_SS_STATS ? string_count : -EOPNOTSUPP;
}

static void get_strings(struct net_device *dev, u32 set, u8 *data)
{
	int i;

	for (i = 0; set == ETH_SS_STATS && i < string_count; i++)
		strncpy(data + i * ETH_GSTRING_LEN, string_names[i], ETH_GSTRING_LEN);
}

static void get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	int i;

	for (i = 0; i < string_count; i++)
		data[i] = value_or(string_names[i], 0);
}

static int get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	settings->base.speed = netif_carrier_ok(dev) ? SPEED_100000 : SPEED_UNKNOWN;
	settings->base.duplex = DUPLEX_FULL;
	return 0;
}

static int get_link_ext_state(struct net_device *dev, struct ethtool_link_ext_state_info *info)
{
	u64 state = value_or("ext_state", UNKNOWN);

	if (netif_carrier_ok(dev) || state == UNKNOWN)
		return -ENODATA;
	info->link_ext_state = state;
	info->__link_ext_substate = value_or("ext_substate", 0);
	return 0;
}

static int get_fecparam(struct net_device *dev, struct ethtool_fecparam *fec)
{
	fec->fec = value_or("fec.modes", ETHTOOL_FEC_RS);
	/* What a link at 100 Gb/s agrees on where it may choose. */
	fec->active_fec = fec->fec & (ETHTOOL_FEC_AUTO | ETHTOOL_FEC_RS) ? ETHTOOL_FEC_RS : fec->fec;
	return 0;
}

static int set_fecparam(struct net_device *dev, struct ethtool_fecparam *fec)
{
	return set_value("fec.modes", fec->fec);
}

static void get_fec_stats(struct net_device *dev, struct ethtool_fec_stats *stats)
{
	int i;

	stats->corrected_blocks.total = value_or("fec.corrected_blocks", UNKNOWN);
	stats->uncorrectable_blocks.total = value_or("fec.uncorrectable_blocks", UNKNOWN);
	stats->corrected_bits.total = value_or("fec.corrected_bits", UNKNOWN);
	for (i = 0; i < ETHTOOL_MAX_LANES; i++)
		stats->corrected_bits.lanes[i] = numbered("fec.corrected_bits.%d", i, UNKNOWN);
}

static void get_pauseparam(struct net_device *dev, struct ethtool_pauseparam *pause)
{
	pause->autoneg = value_or("pause.autoneg", 0);
	pause->rx_pause = value_or("pause.accepts", 1);
	pause->tx_pause = value_or("pause.asks", 1);
}

static int set_pauseparam(struct net_device *dev, struct ethtool_pauseparam *pause)
{
	int error = set_value("pause.autoneg", pause->autoneg);

	error = error ?: set_value("pause.accepts", pause->rx_pause);
	return error ?: set_value("pause.asks", pause->tx_pause);
}

static void get_pause_stats(struct net_device *dev, struct ethtool_pause_stats *stats)
{
	stats->tx_pause_frames = value_or("pause.tx", UNKNOWN);
	stats->rx_pause_frames = value_or("pause.rx", UNKNOWN);
}

static void get_eth_phy_stats(struct net_device *dev, struct ethtool_eth_phy_stats *stats)
{
	stats->SymbolErrorDuringCarrier = value_or("eth_phy.symbol_errors", UNKNOWN);
}

static void get_eth_mac_stats(struct net_device *dev, struct ethtool_eth_mac_stats *stats)
{
	stats->FrameCheckSequenceErrors = value_or("eth_mac.fcs_errors", UNKNOWN);
}

static int get_module_eeprom_by_page(struct net_device *dev, const struct ethtool_module_eeprom *page,
				     struct netlink_ext_ack *extack)
{
	if (page->i2c_address != 0x50 || page->page >= PAGES || page->bank ||
	    page->offset + page->length > sizeof(eeprom[0]))
		return -EINVAL;
	if (!eeprom[0][0]) /* no identifier: nothing is plugged in */
		return -EIO;
	/* Octets 0 to 127 are the same whichever page is chosen (CMIS, 8.1). */
	memcpy(page->data, eeprom[page->offset < 128 ? 0 : page->page] + page->offset, page->length);
	return page->length;
}

static const struct ethtool_ops ethtool_ops = {
	.get_drvinfo = get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_sset_count = get_sset_count,
	.get_strings = get_strings,
	.get_ethtool_stats = get_ethtool_stats,
	.get_link_ksettings = get_link_ksettings,
	.get_link_ext_state = get_link_ext_state,
	.get_fecparam = get_fecparam,
	.set_fecparam = set_fecparam,
	.get_fec_stats = get_fec_stats,
	.get_pauseparam = get_pauseparam,
	.set_pauseparam = set_pauseparam,
	.get_pause_stats = get_pause_stats,
	.get_eth_phy_stats = get_eth_phy_stats,
	.get_eth_mac_stats = get_eth_mac_stats,
	.get_module_eeprom_by_page = get_module_eeprom_by_page,
};

static int ieee_getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	int i;

	pfc->pfc_cap = IEEE_8021QAZ_MAX_TCS;
	pfc->pfc_en = value_or("pfc.enabled", 0);
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		pfc->requests[i] = numbered("pfc.requests.%d", i, 0);
		pfc->indications[i] = numbered("pfc.indications.%d", i, 0);
	}
	return 0;
}

static int ieee_setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	return set_value("pfc.enabled", pfc->pfc_en);
}

static int ieee_getets(struct net_device *dev, struct ieee_ets *ets)
{
	int i;

	ets->ets_cap = IEEE_8021QAZ_MAX_TCS;
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		ets->prio_tc[i] = numbered("ets.class.%d", i, 0);
		ets->tc_tsa[i] = numbered("ets.choice.%d", i, IEEE_8021QAZ_TSA_STRICT);
		ets->tc_tx_bw[i] = numbered("ets.share.%d", i, 0);
	}
	return 0;
}

static int ieee_setets(struct net_device *dev, struct ieee_ets *ets)
{
	int i, error = 0;

	for (i = 0; !error && i < IEEE_8021QAZ_MAX_TCS; i++) {
		error = set_numbered("ets.class.%d", i, ets->prio_tc[i]);
		error = error ?: set_numbered("ets.choice.%d", i, ets->tc_tsa[i]);
		error = error ?: set_numbered("ets.share.%d", i, ets->tc_tx_bw[i]);
	}
	return error;
}

static u8 getdcbx(struct net_device *dev)
{
	return DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
}

/* The table of DSCP values the kernel keeps by itself. */
static const struct dcbnl_rtnl_ops dcb_ops = {
	.ieee_getpfc = ieee_getpfc,
	.ieee_setpfc = ieee_setpfc,
	.ieee_getets = ieee_getets,
	.ieee_setets = ieee_setets,
	.getdcbx = getdcbx,
};

int add_netdev(struct nic *nic)
{
	struct net_device *dev = alloc_etherdev(sizeof(nic));
	int error;

	if (!dev)
		return -ENOMEM;
	*(struct nic **)netdev_priv(dev) = nic;
	SET_NETDEV_DEV(dev, &nic->pci->dev);
	dev->netdev_ops = &netdev_ops;
	dev->ethtool_ops = &ethtool_ops;
	dev->dcbnl_ops = &dcb_ops;
	dev->max_mtu = 9978;
	eth_hw_addr_random(dev);
	error = register_netdev(dev);
	if (error)
		free_netdev(dev);
	else
		nic->netdev = dev;
	return error;
}

void remove_netdev(struct nic *nic)
{
	unregister_netdev(nic->netdev);
	free_netdev(nic->netdev);
}
