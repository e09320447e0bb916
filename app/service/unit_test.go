package service

import (
	"reflect"
	"strings"
	"testing"
)

// A unit differs from the packaged one only in what the options say, and can be read again.
func TestUnitText(t *testing.T) {
	for _, row := range []struct {
		name       string
		o          Options
		want, lack []string
	}{
		{"default", Options{Program: "/usr/local/bin/deedkeep", User: "deedkeep", Data: "/var/lib/deedkeep"},
			[]string{"\nExecStart=/usr/local/bin/deedkeep serve --data /var/lib/deedkeep\n", "\nStateDirectory=deedkeep\n", "\nProtectHome=yes\n",
				"\nType=notify\n", "\nReadWritePaths=-/media -/mnt -/srv\n"}, []string{"BindPaths"}},
		{"other", Options{Program: "/opt/deedkeep", User: "vault", Data: "/data/vault", Config: "/etc/vault.yaml",
			Writable: []string{"/backup", "/mnt/nas", "/data/vault/x"}},
			[]string{"\nUser=vault\n", "\nExecStart=/opt/deedkeep serve --data /data/vault --config /etc/vault.yaml\n",
				"\nRequiresMountsFor=/data/vault\n",
				"\nReadWritePaths=-/media -/mnt -/srv -/backup /data/vault\n"}, []string{"StateDirectory", "User=deedkeep", "/var/lib"}},
		{"quoted", Options{Program: `/opt/a b/deedkeep`, User: "deedkeep", Data: `/data/100%/"$HOME"\x`},
			[]string{`ExecStart="/opt/a b/deedkeep" serve --data "/data/100%%/\"$$HOME\"\\x"` + "\n",
				`RequiresMountsFor="/data/100%%/\"$HOME\"\\x"`}, nil},
		{"home", Options{Program: "/run/user/7/deedkeep", User: "jane", Data: "/run/user/7/vault", Config: "/run/user/7/vault/c.yaml"},
			[]string{"\nProtectHome=tmpfs\nBindPaths=/run/user/7/vault\nBindReadOnlyPaths=/run/user/7/deedkeep\n"},
			[]string{"ProtectHome=yes", "c.yaml\nP"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			text := unitText("vault", row.o)
			for _, want := range row.want {
				if !strings.Contains(text, want) {
					t.Errorf("lacks %q:\n%s", want, text)
				}
			}
			for _, lack := range row.lack {
				if strings.Contains(text, lack) {
					t.Errorf("has %q:\n%s", lack, text)
				}
			}
			want := State{Account: row.o.User, Program: row.o.Program, Data: row.o.Data, Config: row.o.Config}
			if got := readUnit(text); !reflect.DeepEqual(got, want) {
				t.Errorf("readUnit = %+v, want %+v", got, want)
			}
		})
	}
}

func TestCheckName(t *testing.T) {
	for name, valid := range map[string]bool{"deedkeep": true, "deed-2_B": true, "": false, "a/b": false, "a\nb": false, "a%i": false,
		"..": false,
		"-x": false, "a b": false, "a@b": false, strings.Repeat("a", 64): false} {
		if err := CheckName(name); (err == nil) != valid {
			t.Errorf("CheckName(%q) = %v, want valid: %v", name, err, valid)
		}
	}
	for _, path := range []string{"data", "/a\nb", "/a\x00", "/\xff"} {
		if err := checkPath(path); err == nil {
			t.Errorf("checkPath(%q) = nil, want an error", path)
		}
	}
}

func TestSID(t *testing.T) {
	const want = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"
	if got := SID("TrustedInstaller"); got != want {
		t.Errorf("SID = %s, want %s", got, want)
	}
}

// fakeEvents records events.
type fakeEvents struct{ list []string }

func (f *fakeEvents) add(level string, v []any) error {
	f.list = append(f.list, level+" "+v[0].(string))
	return nil
}
func (f *fakeEvents) Error(v ...any) error   { return f.add("error", v) }
func (f *fakeEvents) Warning(v ...any) error { return f.add("warning", v) }
func (f *fakeEvents) Info(v ...any) error    { return f.add("info", v) }

// The Event Log gets messages for people, and log records from level warn up.
func TestEventWriter(t *testing.T) {
	f := new(fakeEvents)
	w := &eventWriter{log: f}
	for _, line := range []string{
		"deedkeep: No administrator account yet. level=ERROR\n", "time=2026-01-02T03:04:05Z level=INFO msg=stopping\n",
		"time=2026-01-02T03:04:05Z level=WARN msg=slow\n", `{"time":"2026-01-02T03:04:05Z","level":"ERROR","msg":"full"}` + "\n",
		"deedkeep: WARNING: open to all\n", "deedkeep: port in use\n",
	} {
		if n, err := w.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
	}
	if err := w.failed(); err != nil {
		t.Fatal(err)
	}
	want := []string{"info deedkeep: No administrator account yet. level=ERROR", "warning time=2026-01-02T03:04:05Z level=WARN msg=slow",
		`error {"time":"2026-01-02T03:04:05Z","level":"ERROR","msg":"full"}`, "warning deedkeep: WARNING: open to all",
		"info deedkeep: port in use",
		"error The server stopped because of an error. deedkeep: port in use"}
	if !reflect.DeepEqual(f.list, want) {
		t.Errorf("got events\n%q, want\n%q", f.list, want)
	}
}
