// SPDX-License-Identifier: Apache-2.0
#pragma once
// What unit tests include besides. No source names this file: see weft_precompiled().

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "precompiled_rooms.hpp"
