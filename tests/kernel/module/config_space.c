// SPDX-License-Identifier: GPL-2.0
/*
 * Registers of the PCI Express capability that say what the test wants, to the kernel and to lspci alike: no function of
 * qemu ever runs at less than it and its port can.
 *
 *   FUNCTION:OFFSET:WORD, all in hex: 0000:01:00.0:10:00430000 is Link Control and Link Status (linux/pci_regs.h)
 */
#include <linux/module.h>

#include "script.h"

#define WORDS 16

static struct {
	struct pci_bus *bus;
	unsigned int devfn;
	int where;
	u32 value;
} words[WORDS];
static int word_count;
static struct pci_ops *original; /* of every bus below one bridge of the host the same */

/* The kernel holds a lock of its own, under which nobody may look for the function. */
static int read(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *value)
{
	int i, error = original->read(bus, devfn, where, size, value);

	for (i = 0; i < word_count; i++)
		if (!error && words[i].bus == bus && words[i].devfn == devfn && words[i].where == (where & ~3)) {
			*value = words[i].value >> (where & 3) * 8;
			if (size < 4)
				*value &= (1U << size * 8) - 1;
		}
	return error;
}

static int write(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 value)
{
	return original->write(bus, devfn, where, size, value);
}

static struct pci_ops operations = { .read = read, .write = write };

static void take_over(struct pci_bus *bus)
{
	struct pci_ops *old;

	if (bus->ops == &operations)
		return;
	original = bus->ops;
	old = pci_bus_set_ops(bus, &operations);
	WARN_ON(old != original);
}

void forget_registers(void)
{
	int i;

	for (i = 0; i < word_count; i++) {
		pci_bus_set_ops(words[i].bus, original);
		words[i].bus = NULL;
	}
}

static int set_register(const char *text, const struct kernel_param *param)
{
	unsigned int domain, bus, slot, function, offset, value;
	struct pci_dev *pci;
	int i, where;

	if (sscanf(text, "%x:%x:%x.%x:%x:%x", &domain, &bus, &slot, &function, &offset, &value) != 6)
		return -EINVAL;
	pci = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, function));
	if (!pci)
		return -ENODEV;
	where = pci_pcie_cap(pci) + offset;
	for (i = 0; i < word_count; i++)
		if (words[i].bus == pci->bus && words[i].devfn == pci->devfn && words[i].where == where)
			break;
	if (i < WORDS && pci_is_pcie(pci)) {
		words[i].value = value;
		words[i].where = where;
		words[i].devfn = pci->devfn;
		words[i].bus = pci->bus;
		word_count = max(word_count, i + 1);
		take_over(pci->bus);
	}
	pci_dev_put(pci);
	return i < WORDS && pci_is_pcie(pci) ? 0 : -ENOSPC;
}

static const struct kernel_param_ops set_register_ops = { .set = set_register };
module_param_cb(register, &set_register_ops, NULL, 0200);
