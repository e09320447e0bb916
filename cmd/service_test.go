package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/service"
)

// fakeService is a service manager that records what it is asked.
type fakeService struct {
	report  service.Report
	state   service.State
	options service.Options
	calls   []string
	err     error
}

func (f *fakeService) do(call string) error {
	f.calls = append(f.calls, call)
	if f.err == nil {
		f.report(true, call+" done")
	}
	return f.err
}

func (f *fakeService) Install(_ context.Context, o service.Options) error {
	f.options = o
	return f.do("install")
}
func (f *fakeService) Uninstall(context.Context) error              { return f.do("uninstall") }
func (f *fakeService) Start(context.Context) error                  { return f.do("start") }
func (f *fakeService) Stop(context.Context) error                   { return f.do("stop") }
func (f *fakeService) Restart(context.Context) error                { return f.do("restart") }
func (f *fakeService) State(context.Context) (service.State, error) { return f.state, nil }
func (f *fakeService) Logs(lines int, _ bool) ([]string, error) {
	return []string{"deedkeep", "version"}, f.err // a program that exists on every system
}

// use makes a shell use the fake instead of the service manager of this machine.
func (f *fakeService) use(s *shell) {
	s.services = func(name string, report service.Report) (service.Manager, error) {
		f.report = report
		return f, service.CheckName(name)
	}
}

// Commands that change the service print each step, and one JSON document with --json.
func TestServiceSteps(t *testing.T) {
	data := filepath.Join(t.TempDir(), "d")
	for _, action := range []string{"install", "uninstall", "start", "stop", "restart"} {
		f := new(fakeService)
		if got := runCLI(t.Context(), t, f.use, "service", action, "--data", data); got != (result{out: action + " done\n"}) {
			t.Errorf("%s: got %+v", action, got)
		}
		got := runCLI(t.Context(), t, f.use, "service", action, "--json", "--data", data)
		var out serviceChange
		if err := json.Unmarshal([]byte(got.out), &out); err != nil || got.code != 0 || !out.Changed || len(out.Steps) != 1 ||
			out.Name != "deedkeep" {
			t.Errorf("%s --json: got %+v, %v", action, got, err)
		}
		f.err = errors.New("only root")
		if got := runCLI(t.Context(), t, f.use, "service", action, "--json", "--data", data); got.code != exitFailed ||
			!strings.Contains(got.out, "only root") || !strings.Contains(got.messages, "only root") {
			t.Errorf("%s fails: got %+v", action, got)
		}
	}
	for _, name := range []string{"a/b", "a\nb", "%i", "../x", ""} {
		f := new(fakeService)
		if got := runCLI(t.Context(), t, f.use, "service", "install", "--name", name); got.code != exitUsage || len(f.calls) > 0 {
			t.Errorf("--name %q: got %+v and %q", name, got, f.calls)
		}
	}
}

// The service gets the data directory and the settings file that this command finds.
func TestServiceOptions(t *testing.T) {
	dir := t.TempDir()
	data, file, other := filepath.Join(dir, "d"), filepath.Join(dir, "s.yaml"), filepath.Join(dir, "other")
	if err := os.WriteFile(file, []byte("data: "+data+"\nbackup:\n  to: "+other+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	install := func(f *fakeService, args ...string) service.Options {
		t.Helper()
		change := func(s *shell) {
			f.use(s)
			s.installed.Data = other
		}
		if got := runCLI(t.Context(), t, change, append([]string{"service", "install"}, args...)...); got.code != 0 {
			t.Fatalf("%q: got %+v", args, got)
		}
		return f.options
	}
	o := install(new(fakeService), "--config", file, "--user", "vault")
	if o.Data != data || o.Config != file || o.Settings != file || o.User != "vault" || !o.Flags || len(o.Writable) != 1 ||
		o.Writable[0] != other ||
		!filepath.IsAbs(o.Program) {
		t.Errorf("settings file: got %+v", o)
	}
	t.Chdir(dir)
	if o := install(new(fakeService)); o.Data != other || o.Config != "" || o.Flags {
		t.Errorf("default: got %+v, want the data directory of a package", o)
	}
	if o := install(&fakeService{state: service.State{Installed: true, Data: data, Config: file}}); o.Data != data ||
		o.Config != file || o.Flags {
		t.Errorf("installed: got %+v, want what it has", o)
	}
	if o := install(new(fakeService), "--data", "relative"); o.Data != filepath.Join(dir, "relative") || !o.Flags {
		t.Errorf("--data: got %+v, want an absolute path", o)
	}
	if _, err := seedVault(filepath.Join(dir, "data")); err != nil {
		t.Fatal(err)
	}
	f := new(fakeService)
	if got := runCLI(t.Context(), t, f.use, "service", "install"); got.code != exitUsage || !strings.Contains(got.messages,
		"contains data") || len(f.calls) > 0 {
		t.Errorf("data in the current directory: got %+v, want a question about it", got)
	}
}

// status exits with 0 only if the service runs.
func TestServiceStatus(t *testing.T) {
	for _, row := range []struct {
		state service.State
		code  int
		want  string
	}{
		{service.State{}, exitFailed, "not installed"},
		{service.State{Installed: true, Account: "deedkeep", Data: t.TempDir()}, exitFailed, "stopped"},
		{service.State{Installed: true, Running: true, Enabled: true, Data: t.TempDir()}, exitDone, "running"},
	} {
		f := &fakeService{state: row.state}
		if got := runCLI(t.Context(), t, f.use, "service", "status"); got.code != row.code || !strings.Contains(got.out, row.want) {
			t.Errorf("%+v: got %+v, want %q", row.state, got, row.want)
		}
		var out map[string]any
		got := runCLI(t.Context(), t, f.use, "service", "status", "--json")
		if err := json.Unmarshal([]byte(got.out), &out); err != nil || got.code != row.code || out["running"] != row.state.Running {
			t.Errorf("%+v --json: got %+v, %v", row.state, got, err)
		}
		for _, key := range strings.Fields("name installed running enabled manager account program data config unit address") {
			if _, ok := out[key]; !ok {
				t.Errorf("--json lacks %q: %s", key, got.out)
			}
		}
	}
}

func TestServiceLogs(t *testing.T) {
	f := new(fakeService)
	if got := runCLI(t.Context(), t, f.use, "service", "logs"); got.code != 0 || !strings.HasPrefix(got.out, "deedkeep ") {
		t.Errorf("got %+v", got)
	}
	got := runCLI(t.Context(), t, f.use, "service", "logs", "--json")
	var out struct{ Lines []string }
	if err := json.Unmarshal([]byte(got.out), &out); err != nil || got.code != 0 || len(out.Lines) != 1 {
		t.Errorf("--json: got %+v, %v", got, err)
	}
	for _, args := range [][]string{{"--lines", "0"}, {"--follow", "--json"}} {
		if got := runCLI(t.Context(), t, f.use, append([]string{"service", "logs"}, args...)...); got.code != exitUsage {
			t.Errorf("%q: got %+v, want exit code %d", args, got, exitUsage)
		}
	}
}
