//go:build root && linux

package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

// guideMachine is a script that sets up the environment for the guides. It uses namespaces
// with separate directories, accounts, and networking, so the commands can use the paths and
// ports in the guides. Root has a strict umask, so the service can use files created by root
// only if the guide changes their owner.
const guideMachine = `umask 022
ip link set lo up
mount -t tmpfs guide /srv
mount -t tmpfs guide /mnt
mkdir /mnt/bin /mnt/etc /mnt/nas /mnt/cloud
cp -a /etc/. /mnt/etc
mkdir -p /mnt/etc/systemd/system
mount --bind /mnt/etc /etc
mkdir /mnt/test
install -m 755 "$PROGRAM" /mnt/test/deedkeep # the test binary is deedkeep only under this name
printf '#!/bin/sh\nexec /mnt/test/deedkeep "$@"\n' >deedkeep
install -m 755 deedkeep /mnt/bin/deedkeep
cat >/mnt/bin/systemctl <<'END'
#!/bin/sh
case $1 in
enable | start | restart) touch "/run/$1" ;;
show)
	if [ -e /run/start ]; then echo ActiveState=active; else echo ActiveState=inactive; fi
	if [ -e /run/enable ]; then echo UnitFileState=enabled; fi
	;;
esac
END
chmod 755 /mnt/bin/systemctl
mount -t tmpfs guide /run
mkdir -p /run/systemd/system
mount --bind /mnt/bin /usr/local/bin
if [[ -d $ENGINES ]]; then cp -r "$ENGINES" /mnt/engines; else mkdir /mnt/engines; fi
chmod -R a+rwX /mnt/engines
install -m 755 "$NEXT" /mnt/test/next
printf '#!/bin/sh\nexec /mnt/test/next "$@"\n' >next
export DEEDKEEP_READER_CACHE=/mnt/engines PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 077
` + topicShell + `
systemctl() {
	case $1 in
	daemon-reload) ;;
	start | enable) service ;;
	stop) down ;;
	restart) down && service ;;
	*) return 1 ;;
	esac
}
managed() { # installs the service twice, with a stand-in for systemctl that stores only its state
	command deedkeep "$@"
	command deedkeep "$@" >again.out
	if grep -E '^(wrote|created|enabled|started|restarted) ' again.out; then return 1; fi
	grep -q ' is already as asked$' again.out || return
	# os.Args names the program, which the upgrade replaces, only without the script that starts it here.
	sed -i 's|^ExecStart=/mnt/test/deedkeep |ExecStart=/usr/local/bin/deedkeep |' /etc/systemd/system/deedkeep.service
	service
}
line() { sed -n "s/^$1=//p" /etc/systemd/system/deedkeep.service; }
service() { # does what systemd would do for these lines of the unit
	local account writable
	account=$(line User)
	writable=$(find /etc/systemd/system/deedkeep.service* -type f -exec sed -n 's/^ReadWritePaths=//p' {} +)
	: >serve.out
	unshare --mount --propagation private bash -euc '
		for path in $1; do
			if [[ -e ${path#-} || $path != -* ]]; then mount --bind "${path#-}" "${path#-}"; fi
		done
		for path in / /etc /srv /mnt; do [[ " $1 " == *" -$path "* ]] || mount -o remount,bind,ro "$path"; done
		umask "$2"
		exec setpriv --reuid "$3" --regid "$3" --init-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
			env -i PATH=/usr/bin:/bin DEEDKEEP_READER_CACHE=/mnt/engines $4 $5
	' - "$writable" "$(line UMask)" "$account" "$(line Environment) ${plan-}" "$(line ExecStart)" >serve.out 2>>serve.err & server=$!
	for _ in $(seq 600); do grep -q '^listening on ' serve.out && return; kill -0 $server || break; sleep 0.05; done
	cat serve.err >&2; return 1
}
planned() { # waits for the scheduled backup of the server
	local before after
	before=$(newest)
	plan=DEEDKEEP_BACKUP_EVERY=1s systemctl restart deedkeep
	for _ in $(seq 600); do
		after=$(newest)
		if [[ $after > $before ]]; then echo PLANNED; break; fi
		sleep 0.05
	done
	if [[ ! $after > $before ]]; then cat serve.err; fi
	systemctl restart deedkeep
}
newest() { # prints the newest snapshot in the backup directory of the settings
	find "$(sed -n 's/^  to: //p' /srv/deedkeep/config.yaml)/snapshots" -name '*.manifest' | sort | tail -n 1
}
`

// guideAccount is a script after which the commands of deedkeep run as the service account, in a directory of its own.
const guideAccount = `
mkdir /mnt/work
cp -r . /mnt/work
chown -R deedkeep: /mnt/work
cd /mnt/work
as() { setpriv --reuid deedkeep --regid deedkeep --init-groups "$@"; }
deedkeep() { if [[ ${!#} == --ask ]]; then as deedkeep "$@" <"$DEEDKEEP_DATA/passphrase"; else as deedkeep "$@"; fi; }
deedkeep-old() { as deedkeep-old "$@"; }
`

// guideCheck is a script that checks the result of a guide: the service must create a
// scheduled backup, and all files in its directories must belong to it.
const guideCheck = `
planned
printf 'FOREIGN %s\n' "$(find /srv/deedkeep /mnt/nas/deedkeep /mnt/cloud ! -path /mnt/cloud ! -user deedkeep | tr '\n' ' ')"
`

// upgradeUse is a script that uses the new version for a day: it works, and creates its scheduled
// backup, which the old version can't restore. The latest backup for the old version is then an
// earlier one.
const upgradeUse = `
deedkeep version
planned
deedkeep backup list
deedkeep status
mkdir -p /srv/again
cp /srv/deedkeep/config.yaml /srv/again/config.yaml
chown -R deedkeep: /srv/again
deedkeep-old restore latest --data /srv/again 2>&1
rm -rf /srv/again
`

// rollbackCheck is a script that checks the old version and its data after the rollback.
const rollbackCheck = `
printf 'SCHEMA %s\n' "$(deedkeep backup list --json | grep -c '"schema": '"$SCHEMA"'$')"
planned
`

// The commands in the guides work if root runs them one after another, and also if the commands of
// deedkeep run as the service account. The server runs with the systemd unit that "service install" writes, and
// creates its scheduled backup. The upgrade is one to a newer version with a newer schema, which
// works for a day before the rollback.
func TestGuidesAsRoot(t *testing.T) {
	next := buildNextSchema(t)
	for _, name := range []string{"root", "service account"} {
		t.Run(name, func(t *testing.T) { runGuidesAsRoot(t, next, name != "root") })
	}
}

// buildNextSchema builds the program with the next schema of the database and returns its path.
func buildNextSchema(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(filepath.FromSlash("../app/store/migrate.go"))
	if err != nil {
		t.Fatalf("read source: %v", err)
	}
	current := fmt.Sprintf("const Schema = %d\n", store.Schema)
	const list = "var migrations = []migration{\n"
	if strings.Count(string(source), current) != 1 || strings.Count(string(source), list) != 1 {
		t.Fatalf("migrate.go: want %q and %q once each", current, list)
	}
	changed := strings.NewReplacer(current, fmt.Sprintf("const Schema = %d\n", store.Schema+1), list,
		"var migrations = append(released, migration{schema: Schema, run: func(*Tx) error { return nil }})\n\n"+
			"var released = []migration{\n").Replace(string(source))
	dir := t.TempDir()
	file, program := filepath.Join(dir, "migrate.go"), filepath.Join(dir, "deedkeep")
	original, err := filepath.Abs(filepath.FromSlash("../app/store/migrate.go"))
	if err != nil {
		t.Fatalf("path of the source: %v", err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: file}})
	if err == nil {
		err = errors.Join(os.WriteFile(file, []byte(changed), 0o600), os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	}
	if err != nil {
		t.Fatalf("write overlay: %v", err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-ldflags",
		"-X deedkeep/cmd.release=v99.0.0", "-o", program, "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the next version: %v\n%s", err, out)
	}
	return program
}

// guideScript returns the script of all guides in sequence.
func guideScript(t *testing.T, asAccount bool, checked []string) string {
	t.Helper()
	var script strings.Builder
	script.WriteString(guideMachine)
	for _, name := range []string{"install", "backups", "upgrade", "security"} {
		text, err := helpTopic(name)
		if err != nil {
			t.Fatalf("read help topic: %v", err)
		}
		before, after, _ := strings.Cut(text, "## Go back to the old version\n")
		blocks, _ := topicScript(before)
		if name == "upgrade" {
			rollback, _ := topicScript(after)
			rollback = strings.Replace(rollback, "deedkeep rollback\n",
				"if deedkeep rollback; then echo NOT REFUSED; fi\ndeedkeep rollback --discard\n", 1)
			blocks = "cp next deedkeep\n" + blocks + upgradeUse + rollback + rollbackCheck
		}
		fmt.Fprintf(&script, "printf 'GUIDE %s\\n'\nset -v\n%s\nset +v\nrm -rf /srv/restored /srv/decrypted\n", name, blocks)
		if slices.Contains(checked, name) {
			script.WriteString(guideCheck)
		}
		if name == "install" && asAccount {
			script.WriteString(guideAccount)
		}
	}
	return script.String()
}

func runGuidesAsRoot(t *testing.T, next string, asAccount bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("find executable: %v", err)
	}
	dir := t.TempDir()
	copyDocuments(t, dir)
	checked := []string{"install", "upgrade", "security"}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx,
		"unshare", "--mount", "--propagation", "private", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "bash")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(guideScript(t, asAccount, checked))
	cmd.Env = append(os.Environ(), "PROGRAM="+self, "NEXT="+next, fmt.Sprintf("SCHEMA=%d", store.Schema+1),
		"ENGINES="+vaulttest.CacheDir(), "DEEDKEEP_READER_DEADLINE=2m")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("run guides: %v\n%s", err, &out)
	}
	t.Logf("user %v, system %v", cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime())
	if testing.Verbose() {
		fmt.Printf("%s\n", &out)
	}
	for _, output := range strings.Split(out.String(), "GUIDE ")[1:] {
		name, _, _ := strings.Cut(output, "\n")
		if !slices.Contains(checked, name) {
			continue
		}
		if !strings.Contains(output, "\nPLANNED\n") {
			t.Errorf("%s: got no scheduled backup, want one\n%s", name, output)
		}
		foreign := regexp.MustCompile(`(?m)^FOREIGN (.*)$`).FindStringSubmatch(output)
		if len(foreign) != 2 || strings.TrimSpace(foreign[1]) != "" {
			t.Errorf("%s: got files of another account %q, want none", name, foreign)
		}
		if name == "upgrade" {
			checkRollback(t, output)
		}
	}
}

// checkRollback checks the output of the upgrade guide: the rollback makes the copy from before the upgrade the database
// again, but only if the changes since then may be lost. There is a backup from before the upgrade, and there are later
// ones that only the new version can restore.
func checkRollback(t *testing.T, output string) {
	t.Helper()
	if strings.Contains(output, "\nNOT REFUSED\n") {
		t.Error("upgrade: the rollback lost changes without --discard")
	}
	for what, pattern := range map[string]string{
		"the rollback":                             `(?m)^vault\.db\.before-\S+ is vault\.db again; .* vault\.db\.after-99\.0\.0`,
		"the refusal of the rollback":              `the audit log has [1-9]\d* entries since the upgrade`,
		"the backup before the upgrade":            `(?m)^\d{8}T\d{6}Z .* before-upgrade-\S+ .* ` + fmt.Sprint(store.Schema) + `$`,
		"a backup of the new version":              `(?m)^\d{8}T\d{6}Z .* v99\.0\.0 +` + fmt.Sprint(store.Schema+1) + `$`,
		"the new version":                          `(?m)^deedkeep v99\.0\.0`,
		"a skipped newer backup":                   `skipped backup \d{8}T\d{6}Z: a newer version`,
		"the backups of the new version afterward": `(?m)^SCHEMA [1-9]`,
	} {
		if !regexp.MustCompile(pattern).MatchString(output) {
			t.Errorf("upgrade: got no %s\n%s", what, output)
		}
	}
	if n := strings.Count(output, "\nPLANNED\n"); n != 3 {
		t.Errorf("upgrade: got %d scheduled backups, want 3: new version, after the rollback, at the end", n)
	}
}
