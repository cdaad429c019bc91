#!/bin/sh
# Notes what the jobs of a cluster do, for `gangplan trace validate`: the changes of its Jobs,
# Workloads, pods and nodes, each with the time at which it was seen. Needs kubectl and jq.
#
#   sh watch.sh DIR     begin before the jobs do; Ctrl-C ends it and writes DIR/watch.jsonl
set -eu
out=${1:?usage: watch.sh DIR}
mkdir -p "$out"
rm -f "$out"/*.part "$out"/*.fifo
watches= filters=

# kubectl watches one kind at a time. Servers end a watch after a while, so that it begins anew;
# what is seen twice does no harm.
watch() {
  mkfifo "$out/$1.fifo"
  jq -c --unbuffered '{at: now} + .' <"$out/$1.fifo" >"$out/$1.part" &
  filters="$filters $!"
  (
    trap 'kill $pid; exit' TERM
    while :; do
      kubectl get "$@" --watch --output-watch-events -o json &
      pid=$!
      wait $pid || :
      sleep 1
    done
  ) >"$out/$1.fifo" &
  watches="$watches $!"
}

finish() {
  trap '' INT TERM
  kill $watches
  wait $filters || : # each ends when it has written all it got
  cat "$out"/*.part >"$out/watch.jsonl"
  rm -f "$out"/*.part "$out"/*.fifo
  echo "$out/watch.jsonl: $(wc -l <"$out/watch.jsonl") changes" >&2
  exit 0
}
trap finish INT TERM

watch nodes
watch jobs.batch -A
watch pods -A
if kubectl api-resources --api-group=kueue.x-k8s.io -o name | grep -q '^workloads'; then
  watch workloads.kueue.x-k8s.io -A
fi
wait
