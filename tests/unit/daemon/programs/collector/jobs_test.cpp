// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/collector/jobs.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace weft::collector {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class Tree {
 public:
  Tree() {
    std::string place = (fs::temp_directory_path() / "weft-jobs-XXXXXX").string();
    root = ::mkdtemp(place.data()) == nullptr ? "" : place;
  }
  ~Tree() { fs::remove_all(root); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  void folder(const std::string& place) const { fs::create_directories(root / place); }
  fs::path root;
};

TEST(Jobs, SlurmNamesItsGroupsAfterTheJob) {
  EXPECT_EQ(slurm_job("job_1234"), "slurm:1234");
  for (const char* group : {"", "job_", "job_12x", "job_123456789012345678901", "step_0", "uid_1000", "xjob_1"})
    EXPECT_EQ(slurm_job(group), std::nullopt) << group;
}

TEST(Jobs, KubernetesNamesItsGroupsAfterThePod) {
  const std::string uid = "kubernetes:3d4c3a4e-9a0b-4e43-9a4c-0a1b2c3d4e5f";
  EXPECT_EQ(kubernetes_pod("pod3d4c3a4e-9a0b-4e43-9a4c-0a1b2c3d4e5f"), uid);
  EXPECT_EQ(kubernetes_pod("kubepods-pod3d4c3a4e_9a0b_4e43_9a4c_0a1b2c3d4e5f.slice"), uid);
  EXPECT_EQ(kubernetes_pod("kubepods-besteffort-pod3d4c3a4e_9a0b_4e43_9a4c_0a1b2c3d4e5f.slice"), uid);
  EXPECT_EQ(kubernetes_pod("pod0123456789abcdef0123456789abcdef"), "kubernetes:0123456789abcdef0123456789abcdef")
      << "a static pod";
  for (const char* group : {"", "pod", "podman", "kubepods-burstable.slice", "kubepods-podX.slice", "pods.slice"})
    EXPECT_EQ(kubernetes_pod(group), std::nullopt) << group;
}

TEST(Jobs, AFileHasOneOnEachLine) {
  EXPECT_EQ(jobs_in_file(""), Names{});
  EXPECT_EQ(jobs_in_file("slurm:1\n\n  two words \r\n# a remark\nlast"), (Names{"slurm:1", "two words", "last"}));
  EXPECT_EQ(jobs_in_file("a\x01\x1b[31mb"), (Names{"a[31mb"}));
  EXPECT_EQ(jobs_in_file("\tslurm:1\tof ann\t\n"), (Names{"slurm:1 of ann"}));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "job\n";
  EXPECT_EQ(jobs_in_file(many).size(), kMostJobs);
}

TEST(Jobs, SlurmIsFoundInBothVersionsOfControlGroups) {
  const Tree two;
  two.folder("system.slice/slurmstepd.scope/job_42/step_0/user");
  two.folder("system.slice/slurmstepd.scope/system");
  two.folder("system.slice/gpu-1_slurmstepd.scope/job_43");
  EXPECT_EQ(find_jobs({true, false, {}, two.root}).jobs, (Names{"slurm:42", "slurm:43"}));
  const Tree one;
  for (const char* controller : {"memory", "freezer"}) {
    one.folder(std::string(controller) + "/slurm/uid_1000/job_7/step_batch");
    one.folder(std::string(controller) + "/slurm_gpu-1/uid_1001/job_8");
  }
  EXPECT_EQ(find_jobs({true, false, {}, one.root}).jobs, (Names{"slurm:7", "slurm:8"}));
  EXPECT_EQ(find_jobs({false, false, {}, one.root}).jobs, Names{});
}

TEST(Jobs, PodsAreFoundWithBothDriversAndInBothVersions) {
  const std::string pod = "0a1b2c3d-0000-0000-0000-00000000000";
  const Tree tree;
  tree.folder("kubepods.slice/kubepods-pod0a1b2c3d_0000_0000_0000_000000000001.slice/cri-containerd-x.scope");
  tree.folder(
      "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a1b2c3d_0000_0000_0000_000000000002.slice");
  EXPECT_EQ(find_jobs({false, true, {}, tree.root}).jobs,
            (Names{"kubernetes:" + pod + "1", "kubernetes:" + pod + "2"}));
  const Tree old;
  old.folder("memory/kubepods/besteffort/pod" + pod + "3/container");
  EXPECT_EQ(find_jobs({false, true, {}, old.root}).jobs, (Names{"kubernetes:" + pod + "3"}));
}

TEST(Jobs, WhatIsMissingIsSaidAndDoesNoHarm) {
  const Tree tree;
  const JobsFound none = find_jobs({true, true, tree.root / "no file", tree.root / "nothing"});
  EXPECT_TRUE(none.jobs.empty());
  EXPECT_FALSE(none.status.ok);
  EXPECT_NE(none.status.message.find("no control groups"), std::string::npos);
  EXPECT_TRUE(find_jobs({false, false, tree.root / "no file", {}}).status.ok) << "an epilog may have taken it away";
  std::ofstream(tree.root / "jobs") << "b\na\nb\n";
  EXPECT_EQ(find_jobs({false, false, tree.root / "jobs", {}}).jobs, (Names{"a", "b"}));
}

}  // namespace
}  // namespace weft::collector
