// SPDX-License-Identifier: GPL-2.0
/* Names and values as the test scripts them, through module parameters. */
#include <linux/module.h>
#include <linux/slab.h>

#include "script.h"

#define VALUES 320

char *driver = "scripted_nic";
module_param(driver, charp, 0444);
MODULE_PARM_DESC(driver, "name of the PCI driver, and in ethtool -i");
char *firmware = "1.2.3 (TEST0000000001)";
module_param(firmware, charp, 0444);
char *ibdev = "";
module_param(ibdev, charp, 0444);
MODULE_PARM_DESC(ibdev, "pattern of the RDMA device's name, \"mlx5_%d\"; empty makes a network device alone");
static char *strings = "";
module_param(strings, charp, 0444);
MODULE_PARM_DESC(strings, "names of ethtool -S, between semicolons");
static char *hw_counters = "";
module_param(hw_counters, charp, 0444);
MODULE_PARM_DESC(hw_counters, "names of the RDMA port's counters, one at least, between semicolons; ?name is an optional one");

char *string_names[NAMES];
int string_count;
struct rdma_stat_desc counter_descs[NAMES];
int counter_count;
u8 eeprom[PAGES][256];

static DEFINE_SPINLOCK(lock);
static struct {
	char name[48];
	u64 value;
} values[VALUES];
static int value_count;

u64 value_or(const char *name, u64 otherwise)
{
	u64 result = otherwise;
	int i;

	spin_lock(&lock);
	for (i = 0; i < value_count; i++)
		if (!strcmp(values[i].name, name))
			result = values[i].value;
	spin_unlock(&lock);
	return result;
}

int set_value(const char *name, u64 value)
{
	int i;

	spin_lock(&lock);
	for (i = 0; i < value_count && strcmp(values[i].name, name); i++)
		;
	if (i < VALUES) {
		strscpy(values[i].name, name, sizeof(values[i].name));
		values[i].value = value;
		value_count = max(value_count, i + 1);
	}
	spin_unlock(&lock);
	return i < VALUES ? 0 : -ENOSPC;
}

void read_names(void)
{
	char *rest = strings, *name;

	while (string_count < NAMES && (name = strsep(&rest, ";")))
		if (*name)
			string_names[string_count++] = name;
	rest = hw_counters;
	while (counter_count < NAMES && (name = strsep(&rest, ";"))) {
		if (*name == '?')
			counter_descs[counter_count].flags = IB_STAT_FLAG_OPTIONAL;
		if (*name)
			counter_descs[counter_count++].name = name + (*name == '?');
	}
}

static int set_values(const char *text, const struct kernel_param *param)
{
	char *copy = kstrdup(text, GFP_KERNEL), *rest = copy, *pair;
	int error = copy ? 0 : -ENOMEM;

	while (!error && (pair = strsep(&rest, ";\n"))) {
		char *number = strrchr(pair, '=');
		u64 value;

		if (!*pair)
			continue;
		if (!number || kstrtou64(number + 1, 0, &value)) {
			error = -EINVAL;
			break;
		}
		*number = 0;
		error = set_value(pair, value);
	}
	kfree(copy);
	follow_carrier();
	return error;
}

static int set_eeprom(const char *text, const struct kernel_param *param)
{
	unsigned int page, offset;
	int digits, end = 0;

	if (sscanf(text, "%u:%u:%n", &page, &offset, &end) != 2 || !end)
		return -EINVAL;
	digits = strcspn(text + end, "\n");
	if (page >= PAGES || offset + digits / 2 > sizeof(eeprom[0]))
		return -ERANGE;
	return hex2bin(eeprom[page] + offset, text + end, digits / 2);
}

static int set_say(const char *text, const struct kernel_param *param)
{
	say(text);
	return 0;
}

static const struct kernel_param_ops set_say_ops = { .set = set_say };
static const struct kernel_param_ops set_values_ops = { .set = set_values };
static const struct kernel_param_ops set_eeprom_ops = { .set = set_eeprom };
module_param_cb(set, &set_values_ops, NULL, 0200);
module_param_cb(eeprom, &set_eeprom_ops, NULL, 0200);
module_param_cb(say, &set_say_ops, NULL, 0200);
