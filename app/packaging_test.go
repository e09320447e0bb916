//go:build unix

package app

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"deedkeep/app/service"
)

// releaseFiles are the files that .ci/release puts into the package of Windows.
var releaseFiles = []string{
	"deedkeep.exe", "deedkeep.url", "README.md", "CHANGELOG.md", "THIRD-PARTY-LICENSES.txt", "config.example.yaml",
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(path.Join("..", name))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	return string(text)
}

// nfpmConfig is what the test reads in nfpm.yaml.
type nfpmConfig struct {
	Contents []struct {
		Src, Dst, Type string
	}
	Scripts map[string]string
}

// The packages of Linux consist of files that exist, and the unit names what they install.
func TestLinuxPackages(t *testing.T) {
	var config nfpmConfig
	if err := yaml.Unmarshal([]byte(readFile(t, ".ci/packaging/nfpm.yaml")), &config); err != nil {
		t.Fatalf("nfpm.yaml: %v", err)
	}
	installed := map[string]string{}
	for _, c := range config.Contents {
		installed[c.Dst] = c.Type
		if c.Src != "" && !strings.HasPrefix(c.Src, "${FILES}/") {
			readFile(t, c.Src)
		}
	}
	for _, script := range config.Scripts {
		if !strings.HasPrefix(readFile(t, script), "#!/bin/sh\nset -e\n") {
			t.Errorf("%s: want a script for sh that stops at the first failure", script)
		}
	}
	if len(config.Scripts) < 3 {
		t.Errorf("got scripts %v, want those after the installation, and before and after the removal", config.Scripts)
	}
	unit := readFile(t, "app/service/deedkeep.service")
	for _, want := range []string{
		"\nExecStart=/usr/bin/deedkeep serve\n", "\nUser=deedkeep\n", "\nStateDirectory=deedkeep\n", "\nStateDirectoryMode=0700\n",
		"\nType=notify\n", "\nNotifyAccess=main\n", " mincore ", // app/kv/boltkv/pagecache calls it after an unclean stop
	} {
		if !strings.Contains(unit, want) {
			t.Errorf("deedkeep.service lacks %q", want)
		}
	}
	for dst, kind := range map[string]string{
		"/usr/bin/deedkeep": "", "/usr/lib/systemd/system/deedkeep.service": "",
		"/etc/deedkeep/config.yaml": "config|noreplace",
	} {
		if got, ok := installed[dst]; !ok || got != kind {
			t.Errorf("nfpm.yaml: %s has type %q (%v), want %q", dst, got, ok, kind)
		}
	}
}

// compose.yaml uses the image, the port, the data directory, and the program that .ci/packaging/oci gives the image.
func TestCompose(t *testing.T) {
	var file struct {
		Services map[string]struct {
			Image          string
			Ports, Volumes []string
			Environment    map[string]string
			Healthcheck    struct{ Test []string }
		}
		Volumes map[string]any
	}
	if err := yaml.Unmarshal([]byte(readFile(t, ".ci/packaging/compose.yaml")), &file); err != nil {
		t.Fatalf("compose.yaml: %v", err)
	}
	s, image := file.Services["deedkeep"], readFile(t, ".ci/packaging/oci/main.go")
	if len(file.Services) != 1 || s.Image != "deedkeep:VERSION" ||
		len(s.Ports) != 1 || len(s.Volumes) != 1 || len(s.Healthcheck.Test) < 2 {
		t.Fatalf("compose.yaml: got %+v, want one service with an image, a port, a volume, and a health check", file.Services)
	}
	_, port, _ := strings.Cut(s.Ports[0], ":")
	volume, dir, _ := strings.Cut(s.Volumes[0], ":")
	if _, ok := file.Volumes[volume]; !ok {
		t.Errorf("compose.yaml: the volume %q isn't declared", volume)
	}
	for _, want := range []string{
		`"DEEDKEEP_LISTEN=:` + port + `"`, `"` + port + `/tcp"`, `"DEEDKEEP_DATA=` + dir + `"`,
		`Entrypoint:   []string{"` + s.Healthcheck.Test[1] + `"}`,
	} {
		if !strings.Contains(image, want) {
			t.Errorf("compose.yaml: the image of .ci/packaging/oci lacks %s", want)
		}
	}
	if url := s.Environment["DEEDKEEP_PUBLIC_URL"]; !strings.HasPrefix(url, "https://") || !strings.HasSuffix(url, ":"+port) {
		t.Errorf("compose.yaml: got the address %q, want https and the port %s", url, port)
	}
}

// wxsElement is an element of deedkeep.wxs.
type wxsElement struct {
	XMLName  xml.Name
	Attrs    []xml.Attr   `xml:",any,attr"`
	Children []wxsElement `xml:",any"`
}

// attributes returns the values of an attribute of all elements with a name.
func (e wxsElement) attributes(element, attribute string) (values []string) {
	for _, a := range e.Attrs {
		if e.XMLName.Local == element && a.Name.Local == attribute {
			values = append(values, a.Value)
		}
	}
	for _, child := range e.Children {
		values = append(values, child.attributes(element, attribute)...)
	}
	return values
}

// The package of Windows consists of the files of a release. All its components are in a feature, and only its service
// has access to its data directory.
func TestWindowsPackage(t *testing.T) {
	var wxs wxsElement
	if err := xml.Unmarshal([]byte(readFile(t, ".ci/packaging/deedkeep.wxs")), &wxs); err != nil {
		t.Fatalf("deedkeep.wxs: %v", err)
	}
	sorted := func(list []string) string { return strings.Join(slices.Sorted(slices.Values(list)), " ") }
	if got := wxs.attributes("File", "Source"); sorted(got) != sorted(releaseFiles) {
		t.Errorf("deedkeep.wxs has the files %q, want %q", got, releaseFiles)
	}
	components, used := wxs.attributes("Component", "Id"), wxs.attributes("ComponentRef", "Id")
	if sorted(components) != sorted(used) {
		t.Errorf("deedkeep.wxs has the components %q, and %q are in features", components, used)
	}
	account := wxs.attributes("ServiceInstall", "Account")
	if len(account) != 1 || account[0] != `NT SERVICE\deedkeep` {
		t.Fatalf("deedkeep.wxs has the accounts %q, want the one of the service", account)
	}
	if got := wxs.attributes("ServiceControl", "Start"); len(got) != 1 || got[0] != "install" {
		t.Errorf("deedkeep.wxs starts the service at %q, want once, after the installation", got)
	}
	if got := strings.Join(wxs.attributes("RegistryValue", "Key"), " "); !strings.Contains(got, `\EventLog\Application\deedkeep`) {
		t.Errorf("deedkeep.wxs has the registry keys %s, want the source of the Event Log", got)
	}
	sql := readFile(t, ".ci/packaging/windows.sql")
	want := "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;" + service.SID("deedkeep") + ")'"
	if !strings.Contains(sql, want) {
		t.Errorf("windows.sql lacks the permissions %q of the data directory", want)
	}
	for _, m := range regexp.MustCompile(`'(Program|Data)'\)`).FindAllStringSubmatch(sql, -1) {
		if !slices.Contains(components, m[1]) {
			t.Errorf("windows.sql names the component %s, which deedkeep.wxs lacks", m[1])
		}
	}
}

// Packages of Linux have the version without the v, and all other files of a release have it as it is tagged.
func TestReleaseNames(t *testing.T) {
	for version, want := range map[string][]string{
		"v0.1.0": {"deedkeep_0.1.0_amd64.deb", "deedkeep_0.1.0.x86_64.rpm", "deedkeep_v0.1.0_amd64.msi", "deedkeep_v0.1.0_oci.tar",
			"deedkeep_v0.1.0_linux_arm64.tar.gz", "deedkeep_v0.1.0_windows_amd64.zip", "deedkeep_v0.1.0.cdx.json", "SHA256SUMS.minisig"},
		"v1.20.3-rc.1": {"deedkeep_1.20.3-rc.1_arm64.deb", "deedkeep_v1.20.3-rc.1_amd64.msi"},
		"1.0.0":        nil, "v1.0": nil, "v1.0.0+x": nil, "v1.0.0 ": nil, "": nil, "v1.0.0/..": nil,
	} {
		out, err := exec.Command("../.ci/release", "--list", version).Output() // #nosec G204 -- arguments of tests
		if (err == nil) != (want != nil) {
			t.Errorf("%q: got %q, %v, want files: %v", version, out, err, want != nil)
		}
		for _, name := range want {
			if !slices.Contains(strings.Split(string(out), "\n"), name) {
				t.Errorf("%q: got %q, want %s, too", version, out, name)
			}
		}
	}
}
