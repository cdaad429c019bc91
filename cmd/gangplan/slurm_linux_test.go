package main

import (
	"bytes"
	"crypto/rand"
	"encoding/csv"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slurmStudy takes long enough for one of six shards to be caught at work.
const slurmStudy = `apiVersion: gangplan/v1alpha1
kind: Study
name: slurm
scenario:
  cluster: {synthetic: {racks: 4, hosts: 8, gpus: 8}}
  workload: {synthetic: {mix: llm, jobs: 1500, load: 1.2}}
  timing: kubernetes
matrix:
  policy: [gang, gang-topology]
  waitForPodsReady.timeout: [1m, 5m]
  seed: 1..6
`

// TestSlurm runs a sweep on a Slurm cluster of one node that it starts itself: what `sweep
// plan -o slurm` prints is run as it is. A shard is killed, tried again and goes on where it
// stopped; the merge waits for all shards; and the results are those of one process.
func TestSlurm(t *testing.T) {
	if os.Getenv("GANGPLAN_E2E") == "" {
		t.Skip("it starts a Slurm cluster: `make e2e` runs it")
	}
	c := startSlurm(t)
	if err := os.WriteFile(filepath.Join(c.dir, "study.yaml"), []byte(slurmStudy), 0o666); err != nil {
		t.Fatal(err)
	}
	script := c.run("gangplan", "sweep", "plan", "-f", "study.yaml", "--shards", "6", "-o", "slurm")
	submitted := regexp.MustCompile(`shards: job (\d+), merge: job (\d+)`).FindStringSubmatch(c.shell(script))
	if submitted == nil {
		t.Fatal("the script did not submit two jobs")
	}
	shards, merge := submitted[1], submitted[2]

	kept := c.killShard(3, c.cellsOf(3))
	c.until("the killed shard is to be tried again", func() bool {
		return c.run("squeue", "-h", "-t", "PENDING", "-o", "%r", "-j", shards+"_3") == "BeginTime"
	})
	// Slurm waits two minutes. Within the second of the kill slurmd would refuse to start the job:
	// it goes by when a job was revoked, in whole seconds.
	c.run("scontrol", "update", "JobId="+shards+"_3", "StartTime=now+3")
	c.until("all jobs have ended", func() bool { return c.run("squeue", "-h") == "" })

	if got := c.state(merge); got != "COMPLETED" {
		t.Fatalf("the merge is %s:\n%s", got, c.logs())
	}
	for i := range 6 {
		restarts := "0"
		if i == 3 {
			restarts = "1"
		}
		if shown := c.run("scontrol", "show", "job", fmt.Sprintf("%s_%d", shards, i)); !strings.Contains(shown, "Restarts="+restarts+" ") {
			t.Errorf("shard %d was not started again %s times:\n%s", i, restarts, shown)
		}
	}
	if now, err := os.Stat(kept.path); err != nil || !os.SameFile(now, kept.info) {
		t.Errorf("%s was done before the shard was killed, and was run again: %v", kept.path, err)
	}
	c.run("gangplan", "sweep", "-f", "study.yaml", "--out", "single")
	if diff, err := c.command("diff", "-r", "single", "results").CombinedOutput(); err != nil {
		t.Errorf("the merged results are not those of one process: %v\n%s", err, diff)
	}
}

// slurmCluster is a Slurm of one node with two processors, all below one folder.
type slurmCluster struct {
	t   *testing.T
	dir string // the working directory of jobs and commands
	env []string
}

// startSlurm starts munged, slurmctld and slurmd with sockets, ports and files of their
// own. They end with the test, however it ends.
func startSlurm(t *testing.T) *slurmCluster {
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s: Debian has it in slurmctld, slurmd, slurm-client and munge", program)
		}
	}
	base := t.TempDir()
	c := &slurmCluster{t: t, dir: filepath.Join(base, "work"), env: append(os.Environ(), "SLURM_CONF="+filepath.Join(base, "slurm.conf"))}
	for _, d := range []string{"work", "state", "spool"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	key := make([]byte, 128)
	rand.Read(key)
	c.file(filepath.Join(base, "munge.key"), key, 0o600)
	c.file(filepath.Join(base, "slurm.conf"), []byte(slurmConf(t, base)), 0o644)

	at := func(name string) string { return filepath.Join(base, name) }
	c.daemon(at("munged.out"), "munged", "--foreground", "--force", "--key-file", at("munge.key"), "--socket", at("munge.socket"),
		"--pid-file", at("munged.pid"), "--seed-file", at("munged.seed"), "--log-file", at("munged.log"))
	c.until("munged listens", func() bool { _, err := os.Stat(at("munge.socket")); return err == nil })
	c.daemon(at("slurmctld.out"), "slurmctld", "-D")
	c.daemon(at("slurmd.out"), "slurmd", "-D")
	t.Cleanup(func() { _ = c.command("scancel", "--user", strconv.Itoa(os.Getuid())).Run() })
	c.until("the node is idle", func() bool {
		out, err := c.command("sinfo", "-h", "-o", "%T").Output()
		return err == nil && strings.TrimSpace(string(out)) == "idle"
	})
	return c
}

func slurmConf(t *testing.T, base string) string {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	ports := freePorts(t, 2)
	return strings.NewReplacer("BASE", base, "HOST", host, "USER", strconv.Itoa(os.Getuid()), "PORT0", ports[0], "PORT1", ports[1]).Replace(`
ClusterName=gangplan
SlurmctldHost=HOST(127.0.0.1)
SlurmctldPort=PORT0
SlurmdPort=PORT1
SlurmUser=USER
SlurmdUser=USER
AuthType=auth/munge
AuthInfo=socket=BASE/munge.socket
CredType=cred/munge
StateSaveLocation=BASE/state
SlurmdSpoolDir=BASE/spool
SlurmctldPidFile=BASE/slurmctld.pid
SlurmdPidFile=BASE/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_res
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
KillWait=2
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=HOST NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=HOST Default=YES MaxTime=INFINITE State=UP
`)
}

func freePorts(t *testing.T, n int) []string {
	var ports []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // not before all are found
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ports = append(ports, port)
	}
	return ports
}

func (c *slurmCluster) file(path string, data []byte, mode os.FileMode) {
	if err := os.WriteFile(path, data, mode); err != nil {
		c.t.Fatal(err)
	}
}

// daemon starts a program that runs until the test ends, or the test's process.
func (c *slurmCluster) daemon(log, name string, args ...string) {
	out, err := os.Create(log)
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := c.command(name, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		late.Stop()
		out.Close()
		if c.t.Failed() {
			text, _ := os.ReadFile(log)
			c.t.Logf("%s:\n%s", name, text)
		}
	})
}

func (c *slurmCluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	return cmd
}

// run returns what a command that must succeed prints.
func (c *slurmCluster) run(name string, args ...string) string {
	c.t.Helper()
	return c.output(c.command(name, args...))
}

func (c *slurmCluster) shell(script string) string {
	c.t.Helper()
	cmd := c.command("bash")
	cmd.Stdin = strings.NewReader(script)
	return c.output(cmd)
}

func (c *slurmCluster) output(cmd *exec.Cmd) string {
	c.t.Helper()
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("%v: %v\n%s%s%s", cmd.Args, err, out, errOut.String(), c.logs())
	}
	return strings.TrimSpace(string(out))
}

// until waits for something that must come to pass.
func (c *slurmCluster) until(what string, reached func() bool) {
	c.t.Helper()
	const patience = 2 * time.Minute
	for start := time.Now(); !reached(); time.Sleep(20 * time.Millisecond) {
		if time.Since(start) > patience {
			c.t.Fatalf("waited %v in vain: %s\n%s", patience, what, c.logs())
		}
	}
}

// cellsOf returns the ids of the cells of one of six shards.
func (c *slurmCluster) cellsOf(index int) []string {
	c.t.Helper()
	rows, err := csv.NewReader(strings.NewReader(c.run("gangplan", "sweep", "plan", "-f", "study.yaml", "--shards", "6", "-o", "csv"))).ReadAll()
	if err != nil {
		c.t.Fatal(err)
	}
	var ids []string
	for _, row := range rows {
		if n := len(row); row[n-1] == fmt.Sprintf("%d/6", index) {
			ids = append(ids, row[n-2])
		}
	}
	return ids
}

// doneCell is a folder, and which one it was.
type doneCell struct {
	path string
	info os.FileInfo
}

// killShard kills the process of a shard when the first of its cells is done, and returns
// that one.
func (c *slurmCluster) killShard(index int, cells []string) (kept doneCell) {
	c.t.Helper()
	c.until(fmt.Sprintf("shard %d is killed after the first of its cells", index), func() bool {
		done := 0
		for _, id := range cells {
			path := filepath.Join(c.dir, "results", "cells", id)
			if info, err := os.Stat(path); err == nil {
				kept = doneCell{path, info}
				done++
			}
		}
		if done == len(cells) {
			c.t.Fatalf("all cells of shard %d are done: nothing is left to be lost", index)
		}
		for _, pid := range c.processes(index) {
			if done > 0 {
				return syscall.Kill(pid, syscall.SIGKILL) == nil
			}
		}
		return false
	})
	return kept
}

// processes returns those of the sweeps that Slurm runs as a task of an array.
func (c *slurmCluster) processes(index int) []int {
	var pids []int
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range found {
		line, _ := os.ReadFile(path)
		environ, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if strings.HasPrefix(string(line), "gangplan\x00sweep\x00") && strings.Contains(string(environ), "SLURM_CONF="+c.conf()+"\x00") &&
			strings.Contains(string(environ), fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d\x00", index)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func (c *slurmCluster) conf() string { return filepath.Join(filepath.Dir(c.dir), "slurm.conf") }

// state returns the state of a job.
func (c *slurmCluster) state(job string) string {
	c.t.Helper()
	_, rest, _ := strings.Cut(c.run("scontrol", "show", "job", job), "JobState=")
	state, _, _ := strings.Cut(rest, " ")
	return state
}

// logs are what the jobs printed.
func (c *slurmCluster) logs() string {
	var all strings.Builder
	found, _ := filepath.Glob(filepath.Join(c.dir, "*.log"))
	for _, path := range found {
		text, _ := os.ReadFile(path)
		fmt.Fprintf(&all, "%s:\n%s", filepath.Base(path), text)
	}
	return all.String()
}
