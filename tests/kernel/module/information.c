// SPDX-License-Identifier: GPL-2.0
/* What devlink says of the adapter: the firmware that runs, and another that is stored and waits for a reset. */
#include <net/devlink.h>

#include "script.h"

static int info_get(struct devlink *devlink, struct devlink_info_req *request, struct netlink_ext_ack *extack)
{
	int error = devlink_info_version_running_put(request, DEVLINK_INFO_VERSION_GENERIC_FW, firmware);

	return error ? error : devlink_info_version_stored_put(request, DEVLINK_INFO_VERSION_GENERIC_FW, "99.0.1");
}

static const struct devlink_ops operations = { .info_get = info_get };

int add_information(struct nic *nic)
{
	nic->devlink = devlink_alloc(&operations, sizeof(nic), &nic->pci->dev);
	if (!nic->devlink)
		return -ENOMEM;
	devlink_register(nic->devlink);
	return 0;
}

void remove_information(struct nic *nic)
{
	if (!nic->devlink)
		return;
	devlink_unregister(nic->devlink);
	devlink_free(nic->devlink);
}
