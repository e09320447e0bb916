package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/blobstore"
	"deedkeep/app/certificate"
	"deedkeep/app/client"
	"deedkeep/app/config"
	"deedkeep/app/control"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// check checks that got has the given state and that its message or action contains text. A finding must have an action
// unless its state is OK.
func check(t *testing.T, name string, got apitypes.Diagnosis, state, text string) {
	t.Helper()
	if got.State != state || !strings.Contains(got.Message+" -> "+got.Action, text) || (got.Action == "") != (state == OK) ||
		got.Check == "" {
		t.Errorf("%s: got %+v\nwant %s, %q", name, got, state, text)
	}
}

func TestClock(t *testing.T) {
	check(t, "correct", diagnoseClock(noon, noon.Add(-time.Hour)), OK, "May 1, 2026, 12:00:00 PM UTC")
	check(t, "never changed", diagnoseClock(noon, time.Time{}), OK, "")
	check(t, "one minute slow", diagnoseClock(noon, noon.Add(time.Minute)), OK, "")
	check(t, "set back", diagnoseClock(noon, noon.Add(time.Hour)), Bad, "wrong now, or was wrong then")
	check(t, "no battery", diagnoseClock(time.Unix(0, 0), time.Time{}), Bad, "NTP")
	check(t, "far ahead", diagnoseClock(noon.AddDate(100, 0, 0), time.Time{}), Bad, "NTP")
	dir := t.TempDir()
	path := filepath.Join(dir, "vault.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	if err := os.Chtimes(path, noon, noon.AddDate(0, 1, 0)); err != nil {
		t.Fatalf("set file time: %v", err)
	}
	check(t, "file changed in the future", checkClock(dir, noon, nil), Bad, "Jun 1, 2026")
	event := apitypes.At(noon.AddDate(0, 2, 0))
	check(t, "event in the future", checkClock(dir, noon, &apitypes.Checkup{NewestEventAt: &event}), Bad, "Jul 1, 2026")
}

// The compiled engine is cached only if that doesn't take up disk space reserved for uploads.
func TestEngineCacheNearTheReserve(t *testing.T) {
	dir := t.TempDir()
	free, err := blobstore.FreeSpace(dir)
	if err != nil || free < 2*engineCacheSize {
		t.Fatalf("FreeSpace = %d, %v, want at least %d", free, err, 2*engineCacheSize)
	}
	for _, row := range []struct {
		name, data string
		reserve    uint64
		want       bool
	}{
		{"enough space", dir, 0, true},
		{"near the reserve", dir, free - engineCacheSize/2, false},
		{"below the reserve", dir, 2 * free, false},
		{"no data directory", filepath.Join(dir, "none"), 0, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := config.Config{Data: row.data}
			c.Disk.Reserve = config.Size(row.reserve)
			got, message := engineCacheDir(c)
			if (got != "") != row.want {
				t.Errorf("engineCacheDir = %q, want a directory: %v", got, row.want)
			}
			if strings.Contains(message, " free and ") != (row.reserve > 0) {
				t.Errorf("message = %q, want the free space and the reserve in it: %v", message, row.reserve > 0)
			}
		})
	}
}

func TestFreeSpace(t *testing.T) {
	const mb, gb = 1 << 20, 1 << 30
	for _, row := range []struct {
		name                 string
		free, reserve, month int64
		state, text          string
	}{
		{"plenty", 100 * gb, 64 * mb, gb, OK, "100 GB free, 64 MB reserved; 1 GB uploaded"},
		{"below the reserve", 60 * mb, 64 * mb, 0, Bad, "uploads are rejected"},
		{"at the reserve", 64 * mb, 64 * mb, 0, Bad, "uploads are rejected"},
		{"space for no large document", 100 * mb, 64 * mb, 0, Bad, "too little for a large document"},
		{"space for few documents", 500 * mb, 64 * mb, 0, Warn, "free up disk space"},
		{"full soon", 20*gb + 64*mb, 64 * mb, 10 * gb, Warn, "full in 60 days"},
	} {
		found := &apitypes.Checkup{Status: apitypes.Status{DiskFree: row.free, DiskReserve: row.reserve}, MonthBytes: row.month}
		check(t, row.name, checkFreeSpace(found, config.Default()), row.state, row.text)
	}
}

func TestPatterns(t *testing.T) {
	dir := t.TempDir()
	check(t, "no patterns", checkPatterns(dir), OK, "no county patterns")
	for text, want := range map[string]string{"- find: '(?P<book>[0-9]+)'\n": OK, "- find: '['\n": Warn} {
		if err := os.WriteFile(filepath.Join(dir, "patterns.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		check(t, text, checkPatterns(dir), want, "patterns")
	}
}

func TestSyncSpeed(t *testing.T) {
	check(t, "SSD", diagnoseSyncSpeed(2*time.Millisecond), OK, "2ms")
	check(t, "old disk", diagnoseSyncSpeed(120*time.Millisecond), Warn, "faster disk")
	check(t, "memory", diagnoseSyncSpeed(2*time.Microsecond), Warn, "power failure")
	dir := t.TempDir()
	if got := checkSyncSpeed(dir); got.State == Bad {
		t.Errorf("checkSyncSpeed = %+v, want no error", got)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("files after checkSyncSpeed = %v, %v, want none", left, err)
	}
	check(t, "no directory yet", checkSyncSpeed(filepath.Join(dir, "absent")), checkSyncSpeed(dir).State, "synced write")
}

func TestFileSystem(t *testing.T) {
	c := config.Default()
	allowed := c
	allowed.Disk.AllowNetwork = true
	for _, row := range []struct {
		name    string
		c       config.Config
		network bool
		err     error
		state   string
	}{
		{"disk", c, false, nil, OK},
		{"share", c, true, nil, Bad},
		{"share, allowed", allowed, true, nil, Warn},
		{"unknown", c, false, errors.New("no response"), Warn},
	} {
		check(t, row.name, checkFileSystem(row.c, func(string) (string, bool, error) { return "nfs", row.network, row.err }), row.state, "")
	}
}

func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	c := config.Default()
	c.Data = t.TempDir()
	chmod := func(name string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(c.Data, name)
		if _, err := os.Stat(path); err != nil {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatalf("change mode: %v", err)
		}
	}
	checkOne := func(name, state, text string) {
		t.Helper()
		all := checkPermissions(c)
		if len(all) != 1 {
			t.Fatalf("%s: got %+v, want one finding", name, all)
		}
		check(t, name, all[0], state, text)
	}
	chmod(".", 0o700)
	checkOne("no files", OK, "")
	chmod("secret.key", 0o640)
	checkOne("secret", Bad, "chmod go= "+filepath.Join(c.Data, "secret.key"))
	chmod("secret.key", 0o600)
	chmod("vault.db", 0o604)
	checkOne("database", Bad, "vault.db")
	chmod("vault.db", 0o600)
	chmod(".", 0o755)
	checkOne("directory", Bad, "(-rwxr-xr-x)")
	chmod(".", 0o700)
	c.TLS.Key = filepath.Join(c.Data, "key.pem")
	chmod("key.pem", 0o640)
	checkOne("key that a group can read", OK, "")
	chmod("key.pem", 0o644)
	checkOne("key that everyone can read", Bad, "key.pem")
}

func TestBackupAge(t *testing.T) {
	ago := func(d time.Duration) *apitypes.Time { return new(apitypes.At(noon.Add(-d))) }
	scheduled := config.Default()
	scheduled.Backup.To, scheduled.Backup.Every = "/mnt/backup", 24*time.Hour
	for _, row := range []struct {
		name  string
		s     apitypes.Status
		c     config.Config
		state string
		text  string
	}{
		{"none, nothing stored", apitypes.Status{}, config.Default(), Warn, "backup create"},
		{"none", apitypes.Status{Files: 1}, config.Default(), Bad, "all data is lost"},
		{"today", apitypes.Status{LastBackupAt: ago(time.Hour)}, config.Default(), OK, "1 hour old"},
		{"tomorrow", apitypes.Status{LastBackupAt: ago(-day)}, config.Default(), Bad, "in the future"},
		{"last month", apitypes.Status{LastBackupAt: ago(20 * day)}, config.Default(), Warn, "20 days"},
		{"last year", apitypes.Status{LastBackupAt: ago(100 * day)}, config.Default(), Bad, "100 days"},
		{"scheduled, one missed", apitypes.Status{LastBackupAt: ago(3 * day)}, scheduled, Warn, "3 days"},
		{"scheduled, a week missed", apitypes.Status{LastBackupAt: ago(8 * day)}, scheduled, Bad, "8 days"},
		{"failed", apitypes.Status{LastBackupAt: ago(time.Hour),
			BackupFailure: &apitypes.BackupFailure{At: apitypes.At(noon), Reason: "the disk is full"}}, scheduled, Bad, "the disk is full"},
		{"unreadable state", apitypes.Status{BackupProblem: new("backup.json can't be read")}, scheduled, Bad, "backup.json"},
	} {
		check(t, row.name, checkBackup(&apitypes.Checkup{Status: row.s}, row.c, noon), row.state, row.text)
	}
}

func TestVaultFindings(t *testing.T) {
	killed := apitypes.At(noon.Add(-day))
	killedLongAgo := apitypes.At(noon.Add(-60 * day))
	check(t, "clean", checkShutdown(&apitypes.Checkup{}, noon), OK, "")
	check(t, "killed", checkShutdown(&apitypes.Checkup{UncleanStopAt: &killed}, noon), Warn, "verify")
	check(t, "killed long ago", checkShutdown(&apitypes.Checkup{UncleanStopAt: &killedLongAgo}, noon), OK, "")
	check(t, "clean shutdown", checkDatabase(&apitypes.Checkup{Clean: true}), OK, "cleanly")
	check(t, "read again", checkDatabase(&apitypes.Checkup{}), OK, "read from disk again")
	check(t, "can't be checked", checkDatabase(&apitypes.Checkup{Unchecked: "windows can't"}), Warn, "restart the machine")
	check(t, "a failing disk", checkDatabase(&apitypes.Checkup{Unchecked: "windows can't", DiskError: "input/output error"}), Bad,
		"copy the data directory")
	check(t, "read-only", checkWrites(&apitypes.Checkup{Status: apitypes.Status{ReadOnly: true}}), Bad, "restart")
	check(t, "denied", checkWrites(&apitypes.Checkup{Status: apitypes.Status{WritesDenied: new("The disk has 54 MB free.")}}), Bad,
		"54 MB free")
	check(t, "writes", checkWrites(&apitypes.Checkup{}), OK, "enabled")
	check(t, "failed", checkProcessing(&apitypes.Checkup{Status: apitypes.Status{Failed: 3}}), Warn, "3 documents have no preview")
	c := config.Default()
	check(t, "no OCR", checkOCR(&apitypes.Checkup{}, c, noon), OK, "no scanned pages")
	check(t, "OCR", checkOCR(&apitypes.Checkup{Status: apitypes.Status{OCRFiles: 2, OCRPages: 9, OCREnabled: true, Running: true}},
		c, noon), OK,
		"9 pages of 2 documents can't be searched yet")
	check(t, "OCR at night", checkOCR(&apitypes.Checkup{Status: apitypes.Status{OCRFiles: 1, OCRPages: 1, OCREnabled: true, Running: true,
		OCRResumesAt: new(apitypes.At(noon.Add(6 * time.Hour)))}}, c, noon), OK,
		"1 page of 1 document can't be searched yet; the server reads them from "+noon.Add(6*time.Hour).Format("Jan 2, 2006, 3:04 PM"))
	check(t, "OCR of a stopped server", checkOCR(&apitypes.Checkup{Status: apitypes.Status{OCRFiles: 1, OCRPages: 1}}, c, noon), OK,
		"searched yet")
	check(t, "OCR turned off", checkOCR(&apitypes.Checkup{Status: apitypes.Status{OCRFiles: 1, OCRPages: 1, Running: true}}, c, noon), Warn,
		"ocr.enabled")
	c.OCR.Enabled = false
	check(t, "OCR turned off, stopped server", checkOCR(&apitypes.Checkup{Status: apitypes.Status{OCRFiles: 1, OCRPages: 1}}, c, noon), Warn,
		"can't be searched: OCR is off")
	check(t, "none failed", checkProcessing(&apitypes.Checkup{Status: apitypes.Status{Files: 7}}), OK, "7 stored")
	check(t, "little memory", diagnoseMemory(1<<30, 2<<30), Warn, "reader.memory")
	check(t, "memory", diagnoseMemory(4<<30, 2<<30), OK, "4 GB")
	if has, err := machineMemory(); err != nil || has < 64<<20 {
		t.Errorf("machineMemory = %d, %v, want at least 64 MB", has, err)
	}
}

func TestCertificates(t *testing.T) {
	facts := certificate.Info{Names: []string{"vault.example.com"}, NotBefore: noon.AddDate(0, -1, 0),
		NotAfter: noon.AddDate(0, 6, 0), Fingerprint: "AB:CD"}
	selfSigned := facts
	selfSigned.SelfSigned = true
	const url = "https://vault.example.com:8443"
	check(t, "good", diagnoseCertificate(facts, "AB:CD", url, noon), OK, "expires 2026-11-01, SHA-256 AB:CD")
	check(t, "no server", diagnoseCertificate(facts, "", url, noon), OK, "")
	check(t, "self-signed", diagnoseCertificate(selfSigned, "", "", noon), OK, "vault.example.com")
	check(t, "expired", diagnoseCertificate(facts, "", url, noon.AddDate(0, 7, 0)), Bad, "expired; clients can't connect")
	check(t, "self-signed, expired", diagnoseCertificate(selfSigned, "", url, noon.AddDate(0, 7, 0)), Bad, "restart")
	check(t, "not valid yet", diagnoseCertificate(facts, "", url, noon.AddDate(0, -2, 0)), Bad, "clock")
	check(t, "expires soon", diagnoseCertificate(facts, "", url, noon.AddDate(0, 5, 25)), Warn, "expires soon")
	check(t, "for another host", diagnoseCertificate(facts, "", "https://other.example.com", noon), Bad, "not valid for other.example.com")
	check(t, "not in use", diagnoseCertificate(facts, "EF", url, noon), Warn, "still uses another")
	c := config.Default()
	check(t, "none, loopback", checkCertificate(c, nil, noon), OK, "only this machine can connect")
	c.Listen = ":8080"
	check(t, "none, open", checkCertificate(c, nil, noon), Bad, "without TLS")
	c.TLS.SelfSigned, c.Data = true, t.TempDir()
	check(t, "not created yet", checkCertificate(c, nil, noon), OK, "next start")
	check(t, "not in use by the server", checkCertificate(c, &apitypes.Checkup{Status: apitypes.Status{Running: true}}, noon), Bad, "restart")
	c.TLS, c.PublicURL = config.TLS{Automatic: true, ACMEDirectory: "https://ca.example.com"}, url
	check(t, "automatic, no server", checkCertificate(c, nil, noon), OK, "from https://ca.example.com")
	issued := apitypes.Certificate{
		Names: facts.Names, NotBefore: apitypes.At(facts.NotBefore), NotAfter: apitypes.At(facts.NotAfter), Fingerprint: "AB:CD",
	}
	found := &apitypes.Checkup{Status: apitypes.Status{Running: true, Certificate: &issued}}
	check(t, "issued", checkCertificate(c, found, noon), OK, "expires 2026-11-01, SHA-256 AB:CD")
	issued.SelfSigned = true
	check(t, "not issued yet", checkCertificate(c, found, noon), Bad, "issued no certificate yet")
	c.TLS = config.TLS{Cert: "absent.pem", Key: "absent.pem"}
	check(t, "absent", checkCertificate(c, nil, noon), Bad, "absent.pem")
}

func TestFailedProbes(t *testing.T) {
	status := func(code int, message string) error { return &client.Error{Status: code, Message: message} }
	for _, row := range []struct {
		name string
		err  error
		sent int64
		text string
	}{
		{"too large", status(413, "413 Request Entity Too Large"), 5, "client_max_body_size"},
		{"too slow", status(504, "504 Gateway Timeout"), 5, "proxy_read_timeout"},
		{"cut by a timeout", status(408, "408"), 5, "client_body_timeout"},
		{"no server after the proxy", status(502, "502 Bad Gateway"), 5, "upstream"},
		{"http to https", status(400, "This address speaks https."), 5, "https"},
		{"another service", status(404, "404"), 5, "another server"},
		{"another response", status(403, "403 Forbidden"), 5, "log"},
		{"redirected", status(308, "308 Permanent Redirect to https://vault.example.com/"), 5, "set public_url"},
		{"no response", fmt.Errorf("POST: %w", context.DeadlineExceeded), 5,
			"sending 2 MB to https://vault.example.com took longer than 1s; 5 B were sent"},
		{"certificate for other names", fmt.Errorf("POST: %w",
			x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"a.example.com"}}, Host: "vault.example.com"}), 0,
			"is for another name"},
		{"expired certificate", fmt.Errorf("POST: %w", x509.CertificateInvalidError{Reason: x509.Expired}), 0, "renew the certificate"},
		{"http instead of https", fmt.Errorf("POST: %w", tls.RecordHeaderError{Msg: "not TLS"}), 0, "doesn't use HTTPS"},
		{"connection reset", errors.New("connection reset by peer"), 5, "client_max_body_size"},
		{"not reached", errors.New("no such host"), 0, "DNS"},
	} {
		check(t, row.name, diagnoseFailedProbe(row.err,
			Options{ProbeURL: "https://vault.example.com", ProbeSize: 2 << 20, ProbeTimeout: time.Second}, row.sent, time.Second), Bad, row.text)
	}
}

// If this machine can't reach the address, other machines may still be able to, so the state is only a warning.
func TestUnreachableProbes(t *testing.T) {
	for name, row := range map[string]struct {
		err  error
		text string
	}{
		"no such name":               {&net.DNSError{Err: "no such host", Name: "vault.example.com"}, "can't resolve"},
		"connection refused":         {&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}, "can't reach"},
		"unknown authority":          {x509.UnknownAuthorityError{}, "complete certificate chain"},
		"unknown authority, wrapped": {&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "complete certificate chain"},
	} {
		check(t, name, diagnoseFailedProbe(fmt.Errorf("POST: %w", row.err), Options{ProbeURL: "https://vault.example.com"}, 0,
			time.Second), Warn, row.text)
	}
}

func TestProbeFindings(t *testing.T) {
	const size = 1000
	check(t, "streamed", diagnoseProbe(apitypes.Probe{Bytes: size, SpanMillis: 2100}, size, 3*time.Second, 2*time.Second), OK,
		"without buffering")
	check(t, "buffered", diagnoseProbe(apitypes.Probe{Bytes: size, SpanMillis: 300}, size, 3*time.Second, 2*time.Second), Warn,
		"proxy_request_buffering off")
	check(t, "truncated", diagnoseProbe(apitypes.Probe{Bytes: 1, SpanMillis: 300}, size, time.Second, time.Second), Bad, "1 of 1000 bytes")
	https := Options{ProbeURL: "https://vault.example.com"}
	named := https
	named.Config.PublicURL = "https://vault.example.com"
	plain := Options{ProbeURL: "http://vault.example.com"}
	for _, row := range []struct {
		name  string
		opts  Options
		got   apitypes.Probe
		state string
		text  string
	}{
		{"direct", plain, apitypes.Probe{Host: "vault.example.com"}, OK, "no proxy detected"},
		{"direct, https", https, apitypes.Probe{Host: "vault.example.com", TLS: true}, OK, "no proxy detected"},
		{"proxy not trusted", https, apitypes.Probe{Peer: "10.0.0.7", Host: "vault.example.com", ForwardedFor: "1.2.3.4", ForwardedProto: "https"},
			Warn, "trusted_proxies: [10.0.0.7]"},
		{"no forwarding headers", https, apitypes.Probe{Peer: "10.0.0.7", Host: "vault.example.com"}, Warn, "trusted_proxies: [10.0.0.7]"},
		{"no scheme", https, apitypes.Probe{Trusted: true, Host: "vault.example.com", ForwardedFor: "1.2.3.4"}, Warn, "X-Forwarded-Proto"},
		{"no scheme, public_url", named, apitypes.Probe{Trusted: true, Host: "vault.example.com", ForwardedFor: "1.2.3.4"}, OK, ""},
		{"no client address", https, apitypes.Probe{Trusted: true, Host: "vault.example.com", ForwardedProto: "https"}, Warn, "X-Forwarded-For"},
		{"another host", https, apitypes.Probe{Trusted: true, Host: "127.0.0.1:8080", ForwardedFor: "1.2.3.4", ForwardedProto: "https"}, Warn,
			"proxy_set_header Host"},
		{"another host, forwarded", https, apitypes.Probe{Trusted: true, Host: "127.0.0.1:8080", ForwardedHost: "vault.example.com",
			ForwardedFor: "1.2.3.4", ForwardedProto: "https"}, OK, "is trusted"},
		{"links with another address", named, apitypes.Probe{Trusted: true, Host: "vault.example.com", ForwardedFor: "1.2.3.4",
			ForwardedProto: "https", Link: "http://10.0.0.7"}, Warn, "download_url and other links begin with http://10.0.0.7"},
		{"links with public_url", named, apitypes.Probe{Trusted: true, Host: "vault.example.com", ForwardedFor: "1.2.3.4",
			ForwardedProto: "https", Link: "https://vault.example.com"}, OK, ""},
		{"good", https, apitypes.Probe{Trusted: true, Host: "vault.example.com", ForwardedFor: "1.2.3.4", ForwardedProto: "https"}, OK,
			"is trusted"},
	} {
		check(t, row.name, diagnoseForwarding(row.got, row.opts), row.state, row.text)
	}
	check(t, "key", diagnoseKey(apitypes.Probe{Authorization: true}, nil), OK, "")
	check(t, "key denied", diagnoseKey(apitypes.Probe{Authorization: true}, errors.New("refused")), Bad, "refused")
	check(t, "key removed by the proxy", diagnoseKey(apitypes.Probe{}, nil), Bad, "Authorization")
}

// If secret.key is lost, the vault can't be opened. The action is to copy the key from a backup.
func TestLostSecret(t *testing.T) {
	for _, row := range []struct {
		name  string
		files []string
		text  string
	}{
		{"lost secret", []string{"vault.db"}, "copy secret.key"},
		{"no vault", nil, "deedkeep serve"},
		{"another failure", []string{"vault.db", "secret.key"}, "deedkeep verify"},
	} {
		c := config.Default()
		c.Data = t.TempDir()
		for _, name := range row.files {
			if err := os.WriteFile(filepath.Join(c.Data, name), nil, 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
		}
		failed := errors.New("no response")
		_, failure := Options{
			Config: c, Explain: error.Error,
			WithClient: func(context.Context, func(context.Context, *control.Client) error) error { return failed },
		}.checkup(t.Context())
		if failure == nil {
			t.Fatalf("%s: got nothing, want a finding", row.name)
		}
		check(t, row.name, *failure, Bad, row.text)
	}
}

func TestSearch(t *testing.T) {
	for _, row := range []struct {
		name    string
		running bool
		index   apitypes.SearchIndex
		state   string
		text    string
	}{
		{"complete", true, apitypes.SearchIndex{Ready: true, Records: 7, Behind: 3}, OK, "7 records"},
		{"complete, no server", false, apitypes.SearchIndex{Ready: true, Records: 7, Behind: 300_000}, OK, "7 records"},
		{"far behind", true, apitypes.SearchIndex{Ready: true, Behind: 300_000}, Warn, "300000 changes behind"},
		{"rebuilding", true, apitypes.SearchIndex{Ready: true, Building: true, Done: new(int64(1)), Total: new(int64(4))}, OK, "1 of 4"},
		{"building", true, apitypes.SearchIndex{Building: true, Done: new(int64(1)), Total: new(int64(4))}, Warn,
			"search finds only numbers, Parcel IDs, and addresses"},
		{"texts missing", true, apitypes.SearchIndex{Ready: true, Records: 7, Texts: 5, MissingTexts: 5}, Warn,
			"5 documents can't be found by their text"},
		{"rebuilding, texts missing", true, apitypes.SearchIndex{Ready: true, Building: true, Texts: 5}, OK,
			"search uses the current one"},
		{"interrupted", false, apitypes.SearchIndex{Building: true}, Warn, "was interrupted"},
		{"none", true, apitypes.SearchIndex{}, Warn, "search finds only numbers, Parcel IDs, and addresses"},
		{"none, no server", false, apitypes.SearchIndex{}, OK, "no search index yet"},
		{"stopped", true, apitypes.SearchIndex{Ready: true, Error: new("The disk is full.")}, Bad, "The disk is full."},
	} {
		check(t, row.name, checkSearchIndex(&apitypes.Checkup{Status: apitypes.Status{Running: row.running, Search: row.index}}),
			row.state, row.text)
	}
}
