package cmd

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"
)

// downloadedRelease writes a file of a release and its signed sums, and returns the file and the public key.
func downloadedRelease(t *testing.T) (file, key string) {
	t.Helper()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatalf("generate key: %v", err)
	}
	dir := t.TempDir()
	file = filepath.Join(dir, "deedkeep_v1.4.0_amd64.msi")
	writeText(t, file, "the program")
	sum, err := sumOf(file)
	if err != nil {
		t.Fatalf("sum: %v", err)
	}
	sums := strings.Repeat("0", 64) + "  deedkeep_v1.4.0_amd64.msi.txt\n" + sum + "  deedkeep_v1.4.0_amd64.msi\n"
	writeText(t, filepath.Join(dir, sumsName), sums)
	writeText(t, filepath.Join(dir, signatureName), string(minisign.SignWithComments(private, []byte(sums), "deedkeep v1.4.0", "")))
	return file, public.String()
}

func writeText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
}

// "version --check" accepts a file of a release, and says what is wrong with every other one.
func TestVersionCheck(t *testing.T) {
	_, otherKey := downloadedRelease(t)
	for _, row := range []struct {
		name   string
		change func(t *testing.T, file string, args []string) []string
		want   string // of the message; "" means that the file is right
	}{
		{"right", func(_ *testing.T, _ string, args []string) []string { return args }, ""},
		{"key in a file", func(t *testing.T, file string, args []string) []string {
			writeText(t, file+".pub", "untrusted comment: minisign public key\n"+args[len(args)-1]+"\n")
			return append(args[:len(args)-1], file+".pub")
		}, ""},
		{"binary mode and CRLF", func(t *testing.T, file string, args []string) []string {
			public, private, err := minisign.GenerateKey(rand.Reader)
			sum, sumErr := sumOf(file)
			if err != nil || sumErr != nil {
				t.Fatalf("generate key and sum: %v, %v", err, sumErr)
			}
			sums := strings.ToUpper(sum) + " *" + filepath.Base(file) + "\r\n"
			writeText(t, filepath.Join(filepath.Dir(file), sumsName), sums)
			writeText(t, filepath.Join(filepath.Dir(file), signatureName), string(minisign.Sign(private, []byte(sums))))
			return append(args[:len(args)-1], public.String())
		}, ""},
		{"changed file", func(t *testing.T, file string, args []string) []string {
			writeText(t, file, "another program")
			return args
		}, "is damaged or was changed"},
		{"changed sums", func(t *testing.T, file string, args []string) []string {
			writeText(t, filepath.Join(filepath.Dir(file), sumsName), strings.Repeat("0", 64)+"  "+filepath.Base(file)+"\n")
			return args
		}, "the signature doesn't match"},
		{"other key", func(_ *testing.T, _ string, args []string) []string {
			return append(args[:len(args)-1], otherKey)
		}, "was signed with the key"},
		{"no key", func(t *testing.T, _ string, args []string) []string {
			built := releaseKey
			t.Cleanup(func() { releaseKey = built })
			releaseKey = "\n"
			return args[:len(args)-2]
		}, "this build has no public key"},
		{"key of the build", func(t *testing.T, _ string, args []string) []string {
			built := releaseKey
			t.Cleanup(func() { releaseKey = built })
			releaseKey = "untrusted comment: minisign public key\n" + args[len(args)-1] + "\n"
			return args[:len(args)-2]
		}, ""},
		{"wrong key", func(_ *testing.T, _ string, args []string) []string {
			return append(args[:len(args)-1], "RWQ")
		}, "--key is neither a file nor a minisign public key"},
		{"no file", func(t *testing.T, file string, args []string) []string {
			return removed(t, file, args)
		}, "no such file"},
		{"folder", func(_ *testing.T, file string, args []string) []string {
			args[2] = filepath.Dir(file)
			return args
		}, "isn't a file"},
		{"no sums", func(t *testing.T, file string, args []string) []string {
			return removed(t, filepath.Join(filepath.Dir(file), sumsName), args)
		}, "SHA256SUMS is missing"},
		{"no signature", func(t *testing.T, file string, args []string) []string {
			return removed(t, filepath.Join(filepath.Dir(file), signatureName), args)
		}, "SHA256SUMS.minisig is missing"},
		{"damaged signature", func(t *testing.T, file string, args []string) []string {
			writeText(t, filepath.Join(filepath.Dir(file), signatureName), "not found\n")
			return args
		}, "isn't a minisign signature"},
		{"large sums", func(t *testing.T, file string, args []string) []string {
			writeText(t, filepath.Join(filepath.Dir(file), sumsName), strings.Repeat("0", maxSums+1))
			return args
		}, "is too large"},
		{"renamed", func(t *testing.T, file string, args []string) []string {
			args[2] = file + " (1)"
			if err := os.Rename(file, args[2]); err != nil {
				t.Fatalf("rename: %v", err)
			}
			return args
		}, "doesn't list deedkeep_v1.4.0_amd64.msi (1)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			file, key := downloadedRelease(t)
			args := row.change(t, file, []string{"version", "--check", file, "--key", key})
			got := runCLI(t.Context(), t, nil, args...)
			switch {
			case row.want == "" && (got.code != 0 || !strings.HasSuffix(got.out, "and the sum are right\n")):
				t.Errorf("got %+v, want exit code 0", got)
			case row.want != "" && (got.code != 1 || got.out != "" || !strings.Contains(got.messages, row.want)):
				t.Errorf("got %+v, want exit code 1 and %q", got, row.want)
			}
		})
	}
}

func removed(t *testing.T, name string, args []string) []string {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatalf("remove: %v", err)
	}
	return args
}

func TestVersionCheckFlags(t *testing.T) {
	file, key := downloadedRelease(t)
	got := runCLI(t.Context(), t, nil, "version", "--check", file, "--key", key, "--json")
	var checked checkedRelease
	if err := json.Unmarshal([]byte(got.out), &checked); err != nil || checked.File != file || len(checked.SHA256) != 64 ||
		checked.Signed != "deedkeep v1.4.0" {
		t.Errorf("--json: got %+v, %v, want the file, its sum, and what is signed", got, err)
	}
	for _, args := range [][]string{{"--key", key}, {"--check", file, "--licenses"}} {
		if got := runCLI(t.Context(), t, nil, append([]string{"version"}, args...)...); got.code != exitUsage {
			t.Errorf("version %q: got %+v, want exit code %d", args, got, exitUsage)
		}
	}
}
