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
	"github.com/spf13/pflag"

	"deedkeep/web"
)

// commands returns all commands by path, except the ones that cobra adds.
func commands() map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		all[commandPath(cmd)] = cmd
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	root := (&shell{checkAssets: web.Ready}).root()
	walk(root)
	delete(all, "")
	return all
}

// shortVerbs are the first words of the short descriptions of all commands.
var shortVerbs = strings.Fields("Change Check Create Delete Disable Export Import List Manage Permanently " +
	"Print Re-enable Rebuild Replace Reset Restart Restore Retire Retry Revoke Rotate Set Show Start Stop Test-restore Validate Verify")

// checkDescription checks the description of a command in the help. Short is an imperative
// of up to 60 characters without a period. Long starts with Short as a sentence.
func checkDescription(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	verb, _, _ := strings.Cut(cmd.Short, " ")
	verb, _, _ = strings.Cut(verb, ",")
	switch {
	case !slices.Contains(shortVerbs, verb):
		t.Errorf("Short: got %q, want an imperative first: one of %q", cmd.Short, shortVerbs)
	case len([]rune(cmd.Short)) > 60 || strings.HasSuffix(cmd.Short, "."):
		t.Errorf("Short: got %q (%d characters), want up to 60 characters and no period", cmd.Short, len([]rune(cmd.Short)))
	}
	long := strings.Join(strings.Fields(cmd.Long), " ")
	rest, ok := strings.CutPrefix(long, cmd.Short)
	if long != "" && (!ok || !strings.ContainsAny(rest[:min(1, len(rest))], ".,:")) {
		t.Errorf("Long: got %q, want it to begin with Short: %q", long, cmd.Short)
	}
	for line := range strings.Lines(cmd.Long) {
		if len([]rune(line)) > 90 {
			t.Errorf("Long: got a line of %d characters, want at most 90: %q", len([]rune(line)), line)
		}
	}
}

// checkFlagHelp checks the description of each flag: it begins in lower case, without an
// article, and has no period at the end.
func checkFlagHelp(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	check := func(f *pflag.Flag) {
		first, _, _ := strings.Cut(f.Usage, " ")
		if f.Name == "help" || first == "JSON" || first == "API" || first == "CSV" || first == "ID" {
			return
		}
		if first != strings.ToLower(first) || slices.Contains([]string{"", "a", "an", "the"}, first) || strings.HasSuffix(f.Usage, ".") {
			t.Errorf("--%s: got %q, want lower case, no article, and no period", f.Name, f.Usage)
		}
	}
	cmd.Flags().VisitAll(check)
	cmd.PersistentFlags().VisitAll(check)
}

// Every command has a short description and an example, and checks the number of its
// arguments.
func TestCommandHelp(t *testing.T) {
	for path, cmd := range commands() {
		t.Run(path, func(t *testing.T) {
			checkDescription(t, cmd)
			checkFlagHelp(t, cmd)
			if !strings.Contains(cmd.Example, "deedkeep "+path) {
				t.Errorf("Example: got %q, want \"deedkeep %s\"", cmd.Example, path)
			}
			for line := range strings.Lines(cmd.Example) {
				if !strings.HasPrefix(line, "  ") {
					t.Errorf("Example: got line %q, want it indented by two spaces", line)
				}
			}
			if cmd.HasSubCommands() {
				return
			}
			if cmd.Args == nil {
				t.Fatal("Args: got nil, want a check of the number of arguments")
			}
			for _, args := range [][]string{nil, {"1", "2", "3", "4", "5"}} {
				err := cmd.Args(cmd, args)
				if _, ok := errors.AsType[*argumentError](err); err != nil && (!ok || strings.Contains(err.Error(), "arg(s)")) {
					t.Errorf("Args(%q): got %v, want nil or an argumentError with a message of our own", args, err)
				}
			}
		})
	}
}

// The commands and flags in all examples exist.
func TestExamplesParse(t *testing.T) {
	for path, cmd := range commands() {
		t.Run(path, func(t *testing.T) {
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
					t.Errorf("find command of %q: %v", line, err)
					continue
				}
				if err := found.ParseFlags(rest); err != nil {
					t.Errorf("parse flags of %q: %v", line, err)
				}
			}
		})
	}
}

// With --json, every command prints one JSON document. If a command isn't in the table, the
// test fails.
func TestEveryCommandHasJSON(t *testing.T) {
	const noJSON = "-" // the command prints no data or uses its own format
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
		{"serve", noJSON}, {"demo", "--data " + shortDataDir(t)},
		{"help", "installing"},
		// TestServiceSteps and others check these, with a service manager of their own.
		{"service install", noJSON}, {"service uninstall", noJSON}, {"service start", noJSON}, {"service stop", noJSON},
		{"service restart", noJSON}, {"service status", noJSON}, {"service logs", noJSON},
		{"config check", ""}, {"config show", ""}, {"config example", ""}, {"status", ""}, {"version", ""},
		{"verify", ""}, {"verify", "--repair"}, {"reindex", ""}, {"doctor", ""},
		{"keys create", "json"}, {"keys list", ""}, {"keys rotate", "2"}, {"keys revoke", "3"},
		{"process list", ""}, {"process retry", ""},
		{"users create", "Kim --role staff"}, {"users list", ""}, {"users role", "Kim viewer"}, {"users disable", "Kim"},
		{"users enable", "Kim"}, {"users reset", "Kim"}, {"users profile", "Kim --title Examiner"},
		{"events list", ""}, {"events verify", ""}, {"events export", noJSON},
		{"templates list", ""}, {"templates show", "1"}, {"templates export", ""},
		{"templates import", file("t.yaml", "templates: [{name: X}]")}, {"templates default", "2"}, {"templates retire", "3"},
		{"fields list", ""}, {"fields export", ""}, {"fields import", file("f.yaml", "custom_fields: []")},
		{"statuses list", ""}, {"statuses export", ""}, {"statuses import", file("s.yaml", "statuses: [active]")},
		{"types list", ""}, {"types export", ""}, {"types import", file("d.yaml", "types: [{name: Deed, category: Conveyance}]")},
		{"import", scratch + " --dry-run"}, {"trash list", ""},
		{"trash restore", "99"}, {"trash purge", "99 --yes"}, {"trash empty", "--yes"},
		{"backup create", "--to " + backups}, {"backup list", "--from " + backups}, {"backup verify", "--from " + backups},
		{"backup drill", "--from " + backups}, {"backup prune", "--dry-run --keep-daily 1 --from " + backups},
		{"rollback", ""},
		{"restore", "latest --file 1 -o " + filepath.Join(scratch, "back.txt") + " --from " + backups},
	}
	// Exit codes of commands that may find a problem in this environment.
	problemCodes := map[string]int{"import": exitRejected, "doctor": exitFailed, "trash purge": exitFailed, "trash restore": exitFailed}
	var known []string
	for _, row := range table {
		known = append(known, row.path)
	}
	for path, cmd := range commands() {
		if !cmd.HasSubCommands() && !slices.Contains(known, path) {
			t.Errorf("command %s: got no row in the table, want one", path)
		}
	}
	for _, row := range table {
		if row.args == noJSON {
			continue
		}
		t.Run(row.path, func(t *testing.T) {
			args := append(strings.Fields(row.path), "--json", "--data", dir)
			args = append(args, strings.Fields(row.args)...)
			got := runCLI(t.Context(), t, nil, args...)
			if code, ok := problemCodes[row.path]; got.code != exitDone && !(ok && got.code == code) {
				t.Fatalf("got %+v, want exit code %d or %d", got, exitDone, code)
			}
			documents := json.NewDecoder(strings.NewReader(got.out))
			if err := documents.Decode(new(any)); err != nil {
				t.Fatalf("decode output: %v\n%s", err, got.out)
			}
			if err := documents.Decode(new(any)); !errors.Is(err, io.EOF) {
				t.Errorf("after the document: got %v, want io.EOF", err)
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
		{"keys", "keys revoke --data " + dir + " ", "1\tseed\n:4\n"},
		{"no second key", "keys revoke --data " + dir + " 1 ", ":4\n"},
		{"templates", "templates show --data " + dir + " ",
			"1\tResidential Abstract\n2\tCommercial Abstract\n3\tOwnership and Encumbrance Report\n4\tUpdate / Bring-Down\n:4\n"},
		{"no argument", "process retry --data " + dir + " ", ":4\n"},
		{"no vault", "templates show --data " + dir + "x ", ":4\n"},
		{"abilities", "keys create --ability ", "api:v1\napi:v1:read\nevents\nmetrics\n:4\n"},
		{"folders", "import ", ":16\n"},
		{"files", "templates import ", "yaml\nyml\njson\n:8\n"},
		{"log levels", "status --log-level ", "debug\ninfo\nwarn\nerror\n:4\n"},
		{"no files", "status ", ":4\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			args := append([]string{"__complete"}, strings.Split(row.line, " ")...)
			if got := runCLI(t.Context(), t, nil, args...); got.code != 0 || got.out != row.want {
				t.Errorf("got %+v, want exit code 0 and output %q", got, row.want)
			}
		})
	}
}

func TestRootWarning(t *testing.T) {
	for _, row := range []struct {
		name string
		uid  int
		want bool
	}{{"root", 0, true}, {"user", 1000, false}, {"no user IDs", -1, false}} {
		t.Run(row.name, func(t *testing.T) {
			if got := rootWarning(row.uid); (len(got) == 1) != row.want {
				t.Errorf("rootWarning(%d) = %q, want a warning: %v", row.uid, got, row.want)
			}
		})
	}
}

// "help --man" writes a page for each command, and the same ones each time.
func TestManPages(t *testing.T) {
	dirs := []string{filepath.Join(t.TempDir(), "share", "man1"), t.TempDir()}
	for _, dir := range dirs {
		if got := runCLI(t.Context(), t, nil, "help", "--man", dir); got != (result{}) {
			t.Fatalf("help --man: got %+v, want exit code 0 and no output", got)
		}
	}
	for path, cmd := range commands() {
		name := "deedkeep-" + strings.ReplaceAll(path, " ", "-") + ".1"
		page, err := os.ReadFile(filepath.Join(dirs[0], name))
		if err != nil {
			t.Errorf("read page: %v", err)
			continue
		}
		if !strings.Contains(string(page), cmd.Short) {
			t.Errorf("%s: got no %q", name, cmd.Short)
		}
		if again, err := os.ReadFile(filepath.Join(dirs[1], name)); err != nil || string(again) != string(page) {
			t.Errorf("%s: got another page the second time (error %v)", name, err)
		}
	}
	if got := runCLI(t.Context(), t, nil, "help", "install", "--man", t.TempDir()); got.code != exitUsage {
		t.Errorf("help install --man: got %+v, want exit code %d", got, exitUsage)
	}
}
