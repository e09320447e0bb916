package ui_test

import (
	"html"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"deedkeep/app/certificate"
	"deedkeep/app/config"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

var seenInput = regexp.MustCompile(`name="seen" value="([0-9a-f]+)"`)

// settingForm returns the fields of the settings form at path, with the version that it shows.
func (tu *testUser) settingForm(t *testing.T, path string, fields url.Values) url.Values {
	t.Helper()
	match := seenInput.FindSubmatch(tu.get(t, 200, path).body)
	if match == nil {
		t.Fatalf("GET %s: got no version of the settings", path)
	}
	fields.Set("seen", string(match[1]))
	return fields
}

// Administrators change settings by group. Every page tells administrators which changes need a restart.
func TestChangeSettings(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin, staff := h.newUser(t, "ada", model.RoleAdmin), h.newUser(t, "tom", model.RoleStaff)
	for _, g := range config.Groups() {
		path := "/admin/settings/" + g.Name
		admin.get(t, 200, "/admin/settings", `href="`+path+`"`, g.Hint)
		for _, s := range g.Settings {
			admin.get(t, 200, path, `name="`+s.Key+`"`, html.EscapeString(s.Label))
		}
		staff.get(t, 403, path)
		staff.post(t, 403, path, url.Values{})
	}
	admin.get(t, 404, "/admin/settings/data")
	admin.post(t, 404, "/admin/settings/data", url.Values{"data": {"/srv"}})
	staff.post(t, 403, "/admin/settings/restart", nil)

	const firm, documents = "/admin/settings/firm", "/admin/settings/documents"
	form := admin.settingForm(t, firm, url.Values{"firm.name": {"Kern & Vail Title"},
		"firm.email": {"office@example.com"}, "backup.to": {"/srv"}})
	admin.post(t, 303, firm, form)
	admin.get(t, 200, firm, `value="Kern &amp; Vail Title"`)
	if c := h.vault.Stored.Current(); c.Firm.Name != "Kern & Vail Title" || c.Backup.To != "" {
		t.Errorf("settings: got %+v and backups to %q, want only those of the form", c.Firm, c.Backup.To)
	}
	h.request(t, 200, "GET", "/sign-in").has(t, "<span>Kern &amp; Vail Title</span>")
	abstract, _ := h.createAbstract(t, vaulttest.Operator, nil, model.Property{})
	admin.get(t, 200, abstract+"/print", "<b>Kern &amp; Vail Title</b><br>office@example.com</address>")
	admin.get(t, 200, "/admin/activity", "changed settings", "Name: (blank) → Kern &amp; Vail Title")
	admin.get(t, 200, "/admin/users").lacks(t, "needs a restart")

	form = admin.settingForm(t, documents, url.Values{"limits.pdf_pages": {"70"}, "limits.file_size": {"x"},
		"limits.files_per_request": {"5"}})
	admin.post(t, 422, documents, form).has(t, `id="limits.file_size-problem"`, "is not a valid size", `value="x"`, `value="70"`)
	form.Set("limits.file_size", "50 MB")
	admin.post(t, 303, documents, form)
	admin.get(t, 200, "/admin/users", "3 settings need a restart to apply.", `href="/admin/settings">Restart<`)
	staff.get(t, 200, "/trash").lacks(t, "restart")
	admin.get(t, 200, "/admin/settings", "Maximum size of a document, Maximum number of documents in an upload, "+
		"Maximum number of pages of a PDF", "Restart the server").lacks(t, "without TLS")
	admin.post(t, 412, documents, form).has(t, "changed in the meantime", "Make your change again.", `value="50 MB"`)

	admin.post(t, 303, "/admin/settings/restart", nil).checkHeaders(t, map[string]string{"Location": "/admin/settings/restart?run=run1"})
	if h.restarts.Load() != 1 {
		t.Errorf("restarts: got %d, want 1", h.restarts.Load())
	}
	admin.get(t, 200, "/admin/activity", "restarted the server")
	admin.get(t, 200, "/admin/settings/restart?run=run1", "The server is restarting", `data-restart="/admin/settings/restart?run=run1"`)
	admin.get(t, 303, "/admin/settings/restart?run=run0").checkHeaders(t, map[string]string{"Location": "/admin/settings"})
}

// Sessions, two-factor authentication, the trash, and retention follow a changed setting with the next request.
func TestSettingsTakeEffect(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin, staff := h.newUser(t, "ada", model.RoleAdmin), h.newUser(t, "tom", model.RoleStaff)
	vaulttest.CreateAbstract(t, h.vault)
	vaulttest.NoError(t, h.vault.Abstracts.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	order := vaulttest.CreateOrder(t, h.vault, "A-1")
	vaulttest.NoError(t, h.vault.Orders.Trash(t.Context(), vaulttest.Operator, order.ID, vault.Match{}))
	save := func(group string, values url.Values) reply {
		t.Helper()
		path := "/admin/settings/" + group
		admin.get(t, 200, path, "Changes take effect immediately.")
		return admin.post(t, 303, path, admin.settingForm(t, path, values))
	}
	h.clock.Advance(2 * time.Hour)

	admin.get(t, 200, "/trash", ">A-1<")
	const retention = "/admin/settings/retention"
	for _, confirm := range []string{"", "80m"} {
		unsure := admin.settingForm(t, retention, url.Values{"trash.keep": {"90m"}, "retention.keep": {"21y"}, "confirm": {confirm}})
		admin.post(t, 422, retention, unsure).has(t, "2 records are in the trash.", "Save again to confirm.",
			`name="confirm" value="90m"`, `value="21y"`)
	}
	admin.get(t, 200, "/trash", ">A-1<")
	save("retention", url.Values{"trash.keep": {"90m"}, "retention.keep": {"21y"}, "confirm": {"90m"}})
	vaulttest.NoError(t, h.vault.Purger.PurgeExpired(t.Context()))
	vaulttest.WantTrash(t, h.vault, "abstract 1 "+h.vault.Heading(model.Abstract{ID: 1}, model.Template{}))
	admin.post(t, 422, retention, admin.settingForm(t, retention, url.Values{"retention.keep": {"20y"}})).has(t, "be shortened here")
	save("retention", url.Values{"trash.keep": {"2h"}}) // longer, so no question

	staff.get(t, 200, "/")
	h.clock.Advance(40 * time.Minute)
	admin.get(t, 200, "/")
	save("users", url.Values{"users.session_idle": {"30m"}, "users.session_max": {"14d"}})
	staff.get(t, 303, "/").checkHeaders(t, map[string]string{"Location": "/sign-in"})
	admin.get(t, 200, "/admin/settings").lacks(t, `id="restart"`)

	other := h.newUser(t, "eve", model.RoleStaff)
	other.get(t, 200, "/")
	saved := save("users", url.Values{"users.require_two_factor": {"true"}, "users.session_idle": {"30m"}})
	other.get(t, 303, "/").checkHeaders(t, map[string]string{"Location": "/me"})
	admin.get(t, 303, "/admin/settings").checkHeaders(t, map[string]string{"Location": "/me"})
	h.request(t, 200, "GET", "/me", admin.cookie+"; "+saved.cookies()).has(t, "Settings saved.")
	if p := h.vault.Stored.Pending(); len(p) > 0 {
		t.Errorf("Pending: got %v, want none", p)
	}
}

// A checkbox that isn't checked is false, also if true is the default.
func TestChangeCheckboxes(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	const path = "/admin/settings/ocr"
	admin.get(t, 200, path, `name="ocr.enabled" value="true" checked`)
	admin.post(t, 303, path, admin.settingForm(t, path, url.Values{}))
	if h.vault.Stored.Current().OCR.Enabled {
		t.Error("ocr.enabled: got true, want false")
	}
	admin.post(t, 303, path, admin.settingForm(t, path, url.Values{"ocr.enabled": {"true"}}))
	if stored, err := h.vault.Stored.Stored(t.Context()); err != nil || len(stored) != 0 {
		t.Errorf("stored: got %v, %v, want none", stored, err)
	}
}

// The page of a restart says the new address if that changes.
func TestRestartAtAnotherAddress(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	const path, restart = "/admin/settings/access", "/admin/settings/restart?run=run1"
	admin.post(t, 422, path, admin.settingForm(t, path, url.Values{"listen": {"8443"}})).has(t, "is not an address with a port")
	admin.post(t, 303, path, admin.settingForm(t, path, url.Values{"listen": {":8443"}}))
	admin.get(t, 200, "/admin/settings", "listen is :8443 without TLS; anyone on the network can read")
	admin.post(t, 303, path, admin.settingForm(t, path, url.Values{"listen": {":8443"}, "tls.self_signed": {"true"}}))
	admin.get(t, 200, restart, `href="https://vault.test:8443/admin/settings"`, "goes back to the previous settings").lacks(t, "data-restart")
	admin.post(t, 303, path, admin.settingForm(t, path, url.Values{"listen": {":8443"},
		"public_url": {"https://vault.example.com"}, "tls.self_signed": {"true"}}))
	admin.get(t, 200, restart, `href="https://vault.example.com/admin/settings"`)
}

// An administrator who uses the server on its own computer sees at which addresses others can open it after the restart.
func TestOfficeAddressesAfterRestart(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	const path, restart = "/admin/settings/access", "/admin/settings/restart?run=run1"
	at := func(host string) reply {
		t.Helper()
		return h.request(t, 200, "GET", "http://"+host+restart, admin.cookie)
	}
	var others []string
	for _, name := range certificate.LocalNames("") {
		if ip := net.ParseIP(name); name != "localhost" && (ip == nil || ip.To4() != nil && !ip.IsLoopback()) {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		t.Fatal("this machine has no name and no address")
	}
	admin.post(t, 303, path, admin.settingForm(t, path, url.Values{"listen": {":8443"}, "tls.self_signed": {"true"}}))
	for _, host := range []string{"127.0.0.1:8080", "localhost:8080", "[::1]:8080"} {
		shown := at(host)
		shown.lacks(t, "data-restart", "<code>https://127.0.0.1", "<code>https://localhost")
		for _, name := range others {
			shown.has(t, "<code>https://"+name+":8443</code>", "allow port 8443 in the firewall")
		}
	}
	at("127.0.0.1:8080").has(t, "On this computer, the new address is", `href="https://127.0.0.1:8443/admin/settings"`)
	office := at("vault.test:8080")
	office.has(t, "Its new address is", `href="https://vault.test:8443/admin/settings"`)
	office.lacks(t, "Other computers")

	admin.post(t, 303, path, admin.settingForm(t, path, url.Values{"listen": {"0.0.0.0:80"}}))
	same := at("127.0.0.1")
	same.has(t, "<code>http://"+others[0]+"</code>", ">Continue<")
	same.lacks(t, "data-restart", "new address is")
	for _, listen := range []string{"127.0.0.1:9000", "192.0.2.7:9000"} {
		admin.post(t, 303, path, admin.settingForm(t, path, url.Values{"listen": {listen}}))
		shown := at("127.0.0.1:8080")
		shown.has(t, `href="http://`+listen+`/admin/settings"`)
		shown.lacks(t, "Other computers")
	}
	admin.post(t, 303, path, admin.settingForm(t, path, url.Values{"listen": {":8443"}, "tls.self_signed": {"true"},
		"public_url": {"https://vault.example.com"}}))
	public := at("127.0.0.1:8080")
	public.has(t, `href="https://vault.example.com/admin/settings"`)
	public.lacks(t, "Other computers")
}

// Values of the settings file can't be changed.
func TestFixedSettings(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(o *instance.Options) {
		o.Load = func(stored map[string]string) (config.Config, error) {
			return config.Load(config.Source{Env: []string{"DEEDKEEP_OCR_ENABLED=false", "DEEDKEEP_OCR_WORKERS=3", "DEEDKEEP_LISTEN=:8080"},
				Stored: func(string) (map[string]string, error) { return stored, nil }})
		}
	})
	admin := h.newUser(t, "ada", model.RoleAdmin)
	const path = "/admin/settings/ocr"
	admin.get(t, 200, "/admin/setup/access", "Address and port: <b>set in <code>DEEDKEEP_LISTEN</code>. Change it there.</b>")
	admin.get(t, 200, path, "Set in <code>DEEDKEEP_OCR_ENABLED</code>. Change it there.",
		`name="ocr.workers" value="3" maxlength="4000"`, "disabled")
	admin.post(t, 303, path, admin.settingForm(t, path, url.Values{"ocr.enabled": {"true"}, "ocr.workers": {"9"},
		"ocr.hours": {"18:00-06:00"}}))
	if c := h.vault.Stored.Current(); c.OCR.Enabled || c.OCR.Workers != 3 || c.OCR.Hours != "18:00-06:00" {
		t.Errorf("settings: got %+v, want the values of the environment, and the hours", c.OCR)
	}
}

// A test backup says how it went, before the server restarts.
func TestTestBackup(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	const path = "/admin/settings/backup"
	submit := func(to, want string) {
		t.Helper()
		form := admin.settingForm(t, path, url.Values{"backup.to": {to}, "backup.text": {"true"}, "test": {"1"}})
		cookies := admin.post(t, 303, path, form).cookies()
		h.request(t, 200, "GET", path, admin.cookie+"; "+cookies).has(t, want)
	}
	to := filepath.Join(t.TempDir(), "backups")
	submit("", "Enter a folder for backups first.")
	submit(to, "The test backup is in "+to)
	if backups, err := h.vault.Backups.Destination(t.Context(), admin.actor, 1); err != nil || backups.To != "" {
		t.Errorf("destination: got %+v, %v, want none before a restart", backups, err)
	}
	vaulttest.CreateBackup(t, h.vault, to)
	submit(filepath.Join(h.dir, "backups"), "The test backup failed: ")
}
