// SPDX-License-Identifier: GPL-2.0
/*
 * A network and RoCE adapter without hardware, for tests: it serves whatever values the test scripts, through the
 * kernel's own interfaces. GPL-2.0 because the RDMA core exports its symbols to such modules only; nothing of it is
 * linked with, or copied into, anything that is installed.
 *
 * It binds to qemu's pci-testdev (1b36:0005), and to what sysfs' new_id names, and calls its PCI driver as `driver` says, so that sysfs and ethtool name
 * it as they would name the real one. A value that nobody scripted is not reported where the interface knows absence
 * (FEC, pause, standard groups), and 0 where it does not (statistics by name, PFC, PortCounters).
 *
 *   insmod scripted_nic.ko driver=mlx5_core ibdev=mlx5_%d 'strings=rx_prio3_pause;...' 'hw_counters=np_cnp_sent;?...'
 *   echo 'rx_prio3_pause=42;fec.corrected_blocks=7;carrier=0' > /sys/module/scripted_nic/parameters/set
 *   echo '0:14:2a00' > /sys/module/scripted_nic/parameters/eeprom      (page, offset, octets in hex)
 *   echo 0000:01:00.0:10:00430000 > /sys/module/scripted_nic/parameters/register      (see config_space.c)
 *   echo "device's health compromised" > /sys/module/scripted_nic/parameters/say      (into the kernel's log)
 */
#include <linux/module.h>

#include "script.h"

static struct nic *nics[4];

void follow_carrier(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(nics); i++) {
		if (!nics[i])
			continue;
		if (value_or("carrier", 1))
			netif_carrier_on(nics[i]->netdev);
		else
			netif_carrier_off(nics[i]->netdev);
	}
}

void say(const char *text)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(nics); i++)
		if (nics[i])
			dev_err(&nics[i]->pci->dev, "%s", text);
}

static void remove(struct pci_dev *pci)
{
	struct nic *nic = pci_get_drvdata(pci);
	int i;

	for (i = 0; i < ARRAY_SIZE(nics); i++)
		if (nics[i] == nic)
			nics[i] = NULL;
	remove_rdma(nic);
	remove_information(nic);
	remove_netdev(nic);
	kfree(nic);
}

static int probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	struct nic *nic;
	int error, i;

	for (i = 0; i < ARRAY_SIZE(nics) && nics[i]; i++)
		;
	nic = i < ARRAY_SIZE(nics) ? kzalloc(sizeof(*nic), GFP_KERNEL) : NULL;
	if (!nic)
		return -ENOMEM;
	nic->pci = pci;
	error = add_netdev(nic);
	if (error) {
		kfree(nic);
		return error;
	}
	pci_set_drvdata(pci, nic);
	nics[i] = nic;
	follow_carrier();
	/* Its errors are told, as drivers want it. From Linux 6.2 on the kernel does so by itself. */
	pcie_capability_set_word(pci, PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_FERE);
	error = add_information(nic);
	if (!error && *ibdev)
		error = add_rdma(nic);
	if (error)
		remove(pci);
	return error;
}

static const struct pci_device_id ids[] = { { PCI_DEVICE(0x1b36, 0x0005) }, {} };
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver pci_driver = {
	.id_table = ids,
	.probe = probe,
	.remove = remove,
	.sriov_configure = pci_sriov_configure_simple,
};

static int __init start(void)
{
	read_names();
	pci_driver.name = driver;
	return pci_register_driver(&pci_driver);
}

static void __exit stop(void)
{
	pci_unregister_driver(&pci_driver);
	forget_registers();
}

module_init(start);
module_exit(stop);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("An adapter that says what a test wants to hear");
