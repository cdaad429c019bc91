#!/bin/sh
# Prints a scenario with the load of Kueue's own performance tests: so many cohorts, ClusterQueues
# in each and jobs in each of these, in the classes small, medium and large. The nodes have as many
# GPUs as all queues together.
#
#   sh kueue-load.sh COHORTS QUEUES JOBS >load.yaml     100 10 50 are 50,000 jobs in 1,000 queues
set -eu
usage='usage: kueue-load.sh COHORTS QUEUES JOBS'
awk -v cohorts="${1:?$usage}" -v queues="${2:?$usage}" -v jobs="${3:?$usage}" 'BEGIN {
  print "apiVersion: gangplan/v1alpha1"
  print "kind: Scenario"
  print "name: " cohorts " x " queues " x " jobs " jobs"
  print "policies: [{name: gang, as: classical}, {name: gang, as: fair, fairSharing: on}]"
  print "cluster: {nodes: [{name: n, gpus: 8, count: " int((cohorts * queues * 20 + 7) / 8) "}]}"
  print "queues:"
  for (q = 0; q < cohorts * queues; q++) {
    printf "- {name: q%d, cohort: c%d, quota: {gpu: 20}, borrowingLimit: {gpu: 100}, ", q, q / queues
    print "preemption: {reclaimWithinCohort: Any, withinClusterQueue: LowerPriority}}"
  }
  print "workload:"
  print "  jobs:"
  for (q = 0; q < cohorts * queues; q++) {
    class("small", jobs * 0.7, "100ms", 1, "200ms", 50)
    class("medium", jobs * 0.2, "500ms", 5, "500ms", 100)
    class("large", jobs * 0.1, "1200ms", 20, "1s", 200)
  }
}
function class(name, count, every, pods, duration, priority) {
  if (count < 1) return
  printf "  - {id: %s-%d, queue: q%d, count: %d, submit: %s, submitEvery: %s, ", name, q, q, count, every, every
  printf "pods: %d, gpusPerPod: 1, duration: %s, priority: %d}\n", pods, duration, priority
}'
