package cmd

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"deedkeep/web"
)

// commands are all that do something, by their path, without those that cobra makes.
func commands() map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		all[commandPath(cmd)] = cmd
		for _, part := range cmd.Commands() {
			walk(part)
		}
	}
	root := (&shell{checkAssets: web.Ready}).root()
	walk(root)
	delete(all, "")
	return all
}

func TestCommandHelp(t *testing.T) {
	for path, cmd := range commands() {
		t.Run(path, func(t *testing.T) {
			switch first := cmd.Short[:min(1, len(cmd.Short))]; {
			case first == "" || first != strings.ToUpper(first) || strings.HasSuffix(cmd.Short, "."):
				t.Errorf("Short is %q", cmd.Short)
			case !strings.Contains(cmd.Example, "deedkeep "+path):
				t.Errorf("no example of it in %q", cmd.Example)
			}
			for line := range strings.Lines(cmd.Example) {
				if !strings.HasPrefix(line, "  ") {
					t.Errorf("example %q is not indented by two", line)
				}
			}
			for line := range strings.Lines(cmd.Long) {
				if len([]rune(line)) > 90 {
					t.Errorf("a line of %d characters: %q", len(line), line)
				}
			}
			if cmd.HasSubCommands() {
				return
			}
			if cmd.Args == nil {
				t.Fatal("any number of words is taken")
			}
			for _, args := range [][]string{nil, {"1", "2", "3", "4", "5"}} {
				err := cmd.Args(cmd, args)
				if _, told := errors.AsType[*argumentError](err); err != nil && (!told || strings.Contains(err.Error(), "arg(s)")) {
					t.Errorf("%v: %v", args, err)
				}
			}
		})
	}
}

// What an example shows can be asked for: its flags are there.
func TestExamplesParse(t *testing.T) {
	for path, cmd := range commands() {
		for line := range strings.Lines(cmd.Example) {
			at := strings.Index(line, "deedkeep ")
			if at < 0 {
				continue
			}
			line = strings.TrimSpace(strings.TrimPrefix(line[at:], "deedkeep "))
			if end := strings.IndexAny(line, "|>)"); end >= 0 {
				line = line[:end]
			}
			root := (&shell{checkAssets: web.Ready}).root()
			found, rest, err := root.Find(strings.Fields(line))
			if err != nil {
				t.Errorf("%s: %q: %v", path, line, err)
				continue
			}
			if err := found.ParseFlags(rest); err != nil {
				t.Errorf("%s: %q: %v", path, line, err)
			}
		}
	}
}

// With --json every command prints one document. A command that is not in the table
// fails the test: it has to be thought of.
func TestEveryCommandHasJSON(t *testing.T) {
	const none = "-" // prints no data, or is for a shell
	dir := shortDataDir(t)
	if _, err := seedVault(dir); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	scratch, backups := t.TempDir(), t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(scratch, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
		return path
	}
	table := []struct{ path, args string }{
		{"serve", none},
		{"help", "installing"},
		{"config check", ""}, {"config show", ""}, {"config example", ""}, {"status", ""}, {"version", ""}, {"verify", ""}, {"verify", "--repair"}, {"reindex", ""}, {"doctor", ""},
		{"keys create", "json"}, {"keys list", ""}, {"keys rotate", "2"}, {"keys revoke", "3"},
		{"process list", ""}, {"process retry", ""},
		{"users create", "Kim --role staff"}, {"users list", ""}, {"users role", "Kim viewer"}, {"users disable", "Kim"}, {"users enable", "Kim"}, {"users reset", "Kim"},
		{"events list", ""}, {"events verify", ""}, {"events export", none},
		{"templates list", ""}, {"templates show", "1"}, {"templates export", ""}, {"templates import", file("t.yaml", "templates: [{name: X}]")},
		{"templates default", "2"}, {"templates retire", "3"},
		{"fields list", ""}, {"fields export", ""}, {"fields import", file("f.yaml", "custom_fields: []")},
		{"statuses list", ""}, {"statuses export", ""}, {"statuses import", file("s.yaml", "statuses: [active]")},
		{"import", scratch + " --dry-run"}, {"trash list", ""}, {"trash purge", "99 --yes"}, {"trash empty", "--yes"},
		{"backup create", "--to " + backups}, {"backup list", "--from " + backups}, {"backup verify", "--from " + backups}, {"backup drill", "--from " + backups},
		{"backup prune", "--dry-run --keep-daily 1 --from " + backups}, {"restore", "latest --file 1 -o " + filepath.Join(scratch, "back.txt") + " --from " + backups},
	}
	unwell := map[string]int{"import": exitRejected, "doctor": exitFailed, "trash purge": exitFailed} // may have something to report
	var known []string
	for _, row := range table {
		known = append(known, row.path)
	}
	for path, cmd := range commands() {
		if !cmd.HasSubCommands() && !slices.Contains(known, path) {
			t.Errorf("%s: not in the table", path)
		}
	}
	for _, row := range table {
		if row.args == none {
			continue
		}
		t.Run(row.path, func(t *testing.T) {
			args := append(strings.Fields(row.path+" "+row.args), "--json", "--data", dir)
			got := runCLI(t.Context(), t, nil, args...)
			if code, may := unwell[row.path]; got.code != exitDone && !(may && got.code == code) {
				t.Fatalf("%+v", got)
			}
			lines := json.NewDecoder(strings.NewReader(got.out))
			if err := lines.Decode(new(any)); err != nil {
				t.Fatalf("%v\n%s", err, got.out)
			}
			if err := lines.Decode(new(any)); !errors.Is(err, io.EOF) {
				t.Errorf("more than one document: %v", err)
			}
		})
	}
}

func TestCompletion(t *testing.T) {
	dir := shortDataDir(t)
	if _, err := seedVault(dir); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	for _, row := range []struct{ name, line, want string }{
		{"keys by number", "keys revoke --data " + dir + " ", "1\tseed\n:4\n"},
		{"only one", "keys revoke --data " + dir + " 1 ", ":4\n"},
		{"templates", "templates show --data " + dir + " ", "1\tResidential Abstract\n2\tCommercial Abstract\n3\tOwnership and Encumbrance Report\n4\tUpdate / Bring-Down\n:4\n"},
		{"nothing to offer", "process retry --data " + dir + " ", ":4\n"},
		{"no vault", "templates show --data " + dir + "x ", ":4\n"},
		{"abilities", "keys create --ability ", "api:v1\napi:v1:read\nevents\nmetrics\n:4\n"},
		{"folders", "import ", ":16\n"},
		{"files", "templates import ", "yaml\nyml\njson\n:8\n"},
		{"levels", "status --log-level ", "debug\ninfo\nwarn\nerror\n:4\n"},
		{"no files where none are wanted", "status ", ":4\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			args := append([]string{"__complete"}, strings.Split(row.line, " ")...)
			if got := runCLI(t.Context(), t, nil, args...); got.code != 0 || got.out != row.want {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestRunsAsRoot(t *testing.T) {
	for uid, want := range map[int]bool{0: true, 1000: false, -1: false} {
		if got := rootWarning(uid); (len(got) == 1) != want {
			t.Errorf("user %d: got %q, want a warning: %v", uid, got, want)
		}
	}
}
