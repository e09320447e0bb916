package sandbox_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deedkeep/app/sandbox"
)

// attempt makes all attempts in a process with the given enclosure. It returns the outcome of each
// attempt and the missing protections that the process reported.
func attempt(t *testing.T, enclosure string) (outcomes map[string]string, lacking []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("find test binary: %v", err)
	}
	dir, err := os.MkdirTemp("", "s") // a short path, because the name of a Unix socket is limited
	if err != nil {
		t.Fatalf("create directory: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove directory: %v", err)
		}
	})
	cache := filepath.Join(dir, sandbox.AttemptCache)
	if err := os.Mkdir(cache, 0o700); err != nil {
		t.Fatalf("create directory: %v", err)
	}
	for _, listening := range []struct{ network, address, file string }{
		{"tcp", "127.0.0.1:0", sandbox.AttemptAddress},
		{"unix", filepath.Join(dir, sandbox.AttemptSocket), ""},
		{"unix", "@" + filepath.Join(dir, sandbox.AttemptSocket), ""},
	} {
		l, err := net.Listen(listening.network, listening.address)
		if err != nil {
			t.Fatalf("listen: %v", err)
		}
		t.Cleanup(func() {
			if err := l.Close(); err != nil {
				t.Errorf("close listener: %v", err)
			}
		})
		if listening.file != "" {
			if err := os.WriteFile(filepath.Join(dir, listening.file), []byte(l.Addr().String()), 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
		}
	}
	for _, name := range []string{filepath.Join(dir, sandbox.AttemptVault), filepath.Join(cache, "engine"), filepath.Join(cache, "old")} {
		if err := os.WriteFile(name, []byte("secret"), 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	open, err := os.Create(filepath.Join(dir, "open"))
	if err != nil {
		t.Fatalf("create file: %v", err)
	}
	defer func() {
		if err := open.Close(); err != nil {
			t.Errorf("close file: %v", err)
		}
	}()
	cmd := exec.Command(self, sandbox.FakeArg, "enclosed by "+enclosure+"="+dir)
	cmd.ExtraFiles = []*os.File{open}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("enclosed by %s: %v\n%s%s", enclosure, err, output, &stderr)
	}
	lines := strings.Split(strings.TrimSuffix(string(output), "\n"), "\n")
	names := sandbox.Attempts()
	if len(lines) < len(names) {
		t.Fatalf("enclosed by %s: got %d lines, want %d\n%s", enclosure, len(lines), len(names), output)
	}
	outcomes = make(map[string]string)
	for i, name := range names {
		outcomes[name] = lines[i]
	}
	return outcomes, lines[len(names):]
}

// Every attempt that succeeds in an unprotected process is denied in the sandbox. If the system
// lacks a protection, the worker reports that.
func TestAttempts(t *testing.T) {
	t.Parallel()
	free, none := attempt(t, "nothing")
	closed, lacking := attempt(t, "all")
	if len(none) > 0 {
		t.Errorf("without a sandbox: got lacking %q, want none", none)
	}
	const calls, limits = sandbox.ProtectionSeccomp, sandbox.ProtectionRlimits
	rows := map[string]struct {
		free, closed string
		by           string // the protection that denies the attempt
	}{
		"read /etc/passwd":                     {"done", "EPERM", calls},
		"read a vault file":                    {"done", "EPERM", calls},
		"list a directory":                     {"done", "EPERM", calls},
		"read a file in the cache":             {"done", "EPERM", calls},
		"write a file in the cache":            {"done", "EPERM", calls},
		"replace a file in the cache":          {"done", "EPERM", calls},
		"remove a file from the cache":         {"done", "EPERM", calls},
		"create a file in memory":              {"done", "EPERM", calls},
		"connect to a TCP port":                {"done", "EPERM", calls},
		"connect to a Unix socket":             {"done", "EPERM", calls},
		"connect to an abstract socket":        {"done", "EPERM", calls},
		"open a UDP socket":                    {"done", "EPERM", calls},
		"start a program":                      {"done", "EPERM", calls},
		"become a program":                     {"ENOENT", "EPERM", calls},
		"fork":                                 {"done", "EPERM", calls},
		"call clone3":                          {"EINVAL", "ENOSYS", calls},
		"signal the parent":                    {"done", "EPERM", calls},
		"signal a thread of the parent":        {"done", "EPERM", calls},
		"signal its own thread":                {"done", "done", calls},
		"open the parent":                      {"done", "EPERM", calls},
		"trace a process":                      {"ESRCH", "EPERM", calls},
		"read memory as another process would": {"done", "EPERM", calls},
		"take memory that no limit counts":     {"done", "EPERM", calls},
		"take memory as a stack":               {"done", "EPERM", calls},
		"take private memory":                  {"done", "done", calls},
		"open many files":                      {"done", "EMFILE", limits},
		"raise a limit":                        {"done", "EPERM", calls},
		"write to a file it has open":          {"done", "EFBIG", limits},
		"start a thread":                       {"done", "done", calls},
	}
	for _, name := range sandbox.Attempts() {
		row, planned := rows[name]
		if !planned {
			t.Errorf("rows lack the attempt %q", name)
		}
		want := row.closed
		if slices.ContainsFunc(lacking, func(gap string) bool { return strings.HasPrefix(gap, row.by+": ") }) {
			t.Logf("%s: this system lacks %s", name, row.by)
			want = row.free
		}
		if free[name] != row.free || closed[name] != want {
			t.Errorf("%s: got %s without and %s in the sandbox, want %s and %s", name, free[name], closed[name], row.free, want)
		}
	}
}

// Landlock denies access to files even without the seccomp filter. Later versions also deny TCP,
// abstract sockets, signals, and Unix sockets. If the kernel has no Landlock, the worker reports
// that.
func TestLandlock(t *testing.T) {
	t.Parallel()
	free, _ := attempt(t, "nothing")
	outcomes, lacking := attempt(t, "Landlock")
	version := sandbox.LandlockVersion()
	t.Logf("Landlock %d, lacking %q", version, lacking)
	if lacks := len(lacking) > 0; lacks != (version == 0) {
		t.Errorf("Landlock %d: got missing protections %q, want some only without Landlock", version, lacking)
	}
	rows := map[string]struct {
		since int
		want  string
	}{
		"read /etc/passwd":              {1, "EACCES"},
		"read a vault file":             {1, "EACCES"},
		"list a directory":              {1, "EACCES"},
		"read a file in the cache":      {1, "EACCES"},
		"write a file in the cache":     {1, "EACCES"},
		"replace a file in the cache":   {1, "EACCES"},
		"remove a file from the cache":  {1, "EACCES"},
		"start a program":               {1, "EACCES"},
		"connect to a TCP port":         {4, "EACCES"},
		"connect to an abstract socket": {6, "EPERM"},
		"signal the parent":             {6, "EPERM"},
		"signal a thread of the parent": {6, "EPERM"},
		"connect to a Unix socket":      {9, "EACCES"},
	}
	for _, name := range sandbox.Attempts() {
		want := free[name]
		if row, denied := rows[name]; denied && version >= row.since {
			want = row.want
		}
		if outcomes[name] != want {
			t.Errorf("Landlock %d, %s: got %s, want %s", version, name, outcomes[name], want)
		}
	}
}

// On a system without protections, documents are still processed, and the worker reports the
// missing protections.
func TestMissingProtections(t *testing.T) {
	t.Parallel()
	for kind, why := range map[string]string{"on an old kernel": "function not implemented",
		"in a strict container": "operation not permitted"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := open(t, fake(t, kind))
			doc, size := text("WARRANTY DEED")
			if report, err := p.Inspect(t.Context(), doc, size, "txt", limits); err != nil || report.Rejection != "" {
				t.Errorf("got %+v, %v; want the document read", report, err)
			}
			lacking, _ := p.MissingProtections()
			want := []sandbox.MissingProtection{{Protection: sandbox.ProtectionNoNewPrivs, Reason: why},
				{Protection: sandbox.ProtectionLandlock, Reason: why}, {Protection: sandbox.ProtectionSeccomp, Reason: why}}
			if !slices.Equal(lacking, want) {
				t.Errorf("got lacking %v, want %v", lacking, want)
			}
		})
	}
}

// status returns the fields of a /proc/.../status file by name.
func status(t *testing.T, path string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	fields := make(map[string]string)
	for line := range strings.Lines(string(content)) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.TrimSpace(value)
	}
	return fields
}

// After a document, all threads of the worker are still protected, except by protections that are
// reported as missing.
func TestWorkerIsProtected(t *testing.T) {
	t.Parallel()
	p := open(t, sandbox.Options{Workers: 1})
	if lacking, known := p.MissingProtections(); known {
		t.Errorf("before the first worker: got lacking %v, want none known", lacking)
	}
	doc, size := text("WARRANTY DEED")
	if report, err := p.Inspect(t.Context(), doc, size, "txt", limits); err != nil || report.Rejection != "" {
		t.Fatalf("Inspect = %+v, %v; want accepted", report, err)
	}
	lacking, known := p.MissingProtections()
	if !known {
		t.Error("missing protections are unknown after the first worker started")
	}
	want := map[string]string{"NoNewPrivs": "1", "Seccomp": "2"}
	for _, g := range lacking {
		t.Logf("this system lacks %s: %s", g.Protection, g.Reason)
		delete(want, map[string]string{sandbox.ProtectionNoNewPrivs: "NoNewPrivs", sandbox.ProtectionSeccomp: "Seccomp"}[g.Protection])
	}
	idle := p.Idle()
	if len(idle) != 1 {
		t.Fatalf("got %d workers, want 1", len(idle))
	}
	proc := "/proc/" + strconv.Itoa(idle[0])
	threads, err := filepath.Glob(proc + "/task/*/status")
	if err != nil || len(threads) < 2 {
		t.Fatalf("got %d threads, %v, want at least 2", len(threads), err)
	}
	for _, thread := range threads {
		got := status(t, thread)
		for field, value := range want {
			if got[field] != value {
				t.Errorf("%s: got %s %q, want %q", thread, field, got[field], value)
			}
		}
	}
	bounds, err := os.ReadFile(proc + "/limits")
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	for _, bound := range []string{"Max open files 32 32 files", "Max file size 0 0 bytes", "Max core file size 0 0 bytes"} {
		if !strings.Contains(strings.Join(strings.Fields(string(bounds)), " "), bound) {
			t.Errorf("got %s\nwant %s", bounds, bound)
		}
	}
}
