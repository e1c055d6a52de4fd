// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "api/publication/backup_desk.hpp"
#include "weft/v1/store.grpc.pb.h"

namespace weft::api {

/// weft.v1.StoreService. Two backups at once; further ones get RESOURCE_EXHAUSTED.
class StoreService final : public v1::StoreService::CallbackService {
 public:
  /// Without a desk every call is answered with kUnavailable.
  explicit StoreService(BackupDesk* desk) : desk_(desk) {}

  grpc::ServerWriteReactor<v1::BackupChunk>* Backup(grpc::CallbackServerContext* context,
                                                    const v1::BackupRequest* request) override;

 private:
  BackupDesk* const desk_;
  std::atomic<unsigned> running_{0};
};

}  // namespace weft::api
