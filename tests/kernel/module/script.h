/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the scripted adapter share. */
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <rdma/ib_verbs.h>

#define NAMES 96 /* most names of one kind */
#define PAGES 32 /* of the optical module's memory */

/* script.c: what the test said */
extern char *driver, *firmware, *ibdev;
extern char *string_names[NAMES];
extern int string_count;
extern struct rdma_stat_desc counter_descs[NAMES];
extern int counter_count;
extern u8 eeprom[PAGES][256]; /* page 0 whole, of further pages the upper half */

void read_names(void);
/* The scripted value of that name, or `otherwise`. */
u64 value_or(const char *name, u64 otherwise);
/* As if the test had said so: what a tool sets holds for all adapters. */
int set_value(const char *name, u64 value);

/* adapter.c: one adapter */
struct nic {
	struct net_device *netdev;
	struct pci_dev *pci;
	struct rdma *rdma;
	struct devlink *devlink;
};

void follow_carrier(void);
/* Every adapter says so in the kernel's log, as its driver does. */
void say(const char *text);

/* ethernet.c, rdma.c: its two sides */
int add_netdev(struct nic *nic);
void remove_netdev(struct nic *nic);
int add_rdma(struct nic *nic);
void remove_rdma(struct nic *nic);

/* information.c: what devlink says of the adapter */
int add_information(struct nic *nic);
void remove_information(struct nic *nic);

/* config_space.c: registers of PCI functions that say what the test wants */
void forget_registers(void);
