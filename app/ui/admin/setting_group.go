package admin

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/settings"
	"deedkeep/app/ui/page"
)

// settingField is the template data of one field of a settings form.
type settingField struct {
	config.Editable
	config.Setting
	Zones   []settings.Zone // for the time zone
	Problem string
}

// settingForm is the template data of a form with the settings of a group, or with some of them.
type settingForm struct {
	config.Group
	Fields  []settingField
	Seen    string // version of the values that the form shows
	Problem string
	Confirm string // time in the trash that the user confirms by saving again

	HasLogo     bool // the form also changes the logo
	Logo        string
	LogoProblem string
}

// newSettingForm returns the form with the current values.
func (p *Pages) newSettingForm(group config.Group) settingForm {
	all := map[string]config.Setting{}
	for _, s := range p.App.Stored.Current().Show() {
		all[s.Key] = s
	}
	form := settingForm{Group: group, Seen: p.App.Stored.Version(group.Keys()), HasLogo: slices.Contains(group.Keys(), "firm.name"),
		Logo: page.LogoPath(p.App.Stored.Logo())}
	for _, e := range group.Settings {
		f := settingField{Editable: e, Setting: all[e.Key]}
		if e.Key == "time_zone" {
			f.Zones = page.TimeZones(f.Value)
		}
		form.Fields = append(form.Fields, f)
	}
	return form
}

// restore shows the submitted values and the problems with them.
func (f *settingForm) restore(values map[string]string, problems config.Problems) {
	for n := range f.Fields {
		field := &f.Fields[n]
		if value, submitted := values[field.Editable.Key]; submitted && len(value) <= settings.MaxValueBytes {
			field.Value = value
		}
		for _, p := range problems {
			if p.Key == field.Editable.Key {
				field.Problem = sentence(p.Reason)
			}
		}
	}
	for _, p := range problems {
		if _, own := values[p.Key]; !own {
			f.Problem = strings.TrimSpace(f.Problem + " " + p.Key + ": " + p.Reason + ".")
		}
	}
}

// sentence returns a reason with a capital letter and a period.
func sentence(reason string) string {
	first, size := utf8.DecodeRuneInString(reason)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(reason[size:], ".") + "."
}

// submitted returns the values of the fields that the form may change.
func (f settingForm) submitted(form url.Values) map[string]string {
	values := map[string]string{}
	for _, field := range f.Fields {
		key := field.Editable.Key
		switch {
		case field.Fixed():
		case field.Bool:
			values[key] = "false"
			if form.Get(key) == "true" {
				values[key] = "true"
			}
		case form.Has(key):
			values[key] = form.Get(key)
		}
	}
	return values
}

// saveSettings stores the submitted values. If they don't work, it returns the form with the problems and a status.
func (p *Pages) saveSettings(r *page.Request, group config.Group) (form settingForm, status int, err error) {
	form = p.newSettingForm(group)
	values := form.submitted(r.PostForm)
	changeLogo, err := p.submittedLogo(r, form)
	if errs.KindOf(err) == errs.Invalid {
		form.restore(values, nil)
		form.LogoProblem = errs.UserMessage(err)
		return form, http.StatusUnprocessableEntity, nil
	}
	if err != nil {
		return form, 0, err
	}
	if sure, err := p.confirmTrashPeriod(r, &form, values); !sure || err != nil {
		return form, http.StatusUnprocessableEntity, err
	}
	err = p.App.Stored.Change(r.Context(), r.Actor, values, r.PostForm.Get("seen"), group.Keys()...)
	if err == nil {
		return form, 0, changeLogo()
	}
	if problems, ok := errors.AsType[config.Problems](err); ok {
		form.restore(values, problems)
		return form, http.StatusUnprocessableEntity, nil
	}
	if kind := errs.KindOf(err); kind == errs.PreconditionFailed || kind == errs.Conflict {
		form = p.newSettingForm(group) // with what the other user stored
		if form.Problem = errs.UserMessage(err); kind == errs.PreconditionFailed {
			form.Problem += " This is the latest version. Make your change again."
		}
		return form, httpx.StatusByKind[kind], nil
	}
	return form, 0, err
}

// confirmTrashPeriod returns false, with a question in the form, if a shorter time in the trash would soon delete records
// permanently and the user hasn't confirmed that time. A typo must not do that.
func (p *Pages) confirmTrashPeriod(r *page.Request, form *settingForm, values map[string]string) (sure bool, err error) {
	const key = "trash.keep"
	at := slices.IndexFunc(form.Fields, func(f settingField) bool { return f.Editable.Key == key })
	value, submitted := values[key]
	if at < 0 || !submitted || r.PostForm.Get("confirm") == value {
		return true, nil
	}
	keep, err := config.ParseDuration(cmp.Or(strings.TrimSpace(value), form.Fields[at].Default))
	if err != nil || keep >= p.App.Stored.TrashPeriod() {
		return true, nil //nolint:nilerr // Change reports a value that isn't valid
	}
	health, err := p.App.Health(r.Context())
	if err != nil || health.Status.Trashed == 0 {
		return err == nil, err
	}
	form.restore(values, nil)
	form.Confirm = value
	form.Fields[at].Problem = fmt.Sprintf("%s in the trash. Those deleted earlier than %s ago are deleted permanently, "+
		"except under retention. Save again to confirm.", apitypes.Count(health.Status.Trashed, "record is", "records are"),
		page.FormatDuration(keep))
	return false, nil
}

func requestedGroup(r *page.Request) (config.Group, error) {
	for _, group := range config.Groups() {
		if group.Name == r.PathValue("group") {
			return group, nil
		}
	}
	return config.Group{}, page.NotFound(r)
}

// settingGroupPage shows the settings of a group.
func (p *Pages) settingGroupPage(r *page.Request) error {
	group, err := requestedGroup(r)
	if err != nil {
		return err
	}
	return p.showSettingForm(r, http.StatusOK, p.newSettingForm(group))
}

func (p *Pages) showSettingForm(r *page.Request, status int, form settingForm) error {
	return p.RenderPage(r, status, "setting-group.html", page.Page{
		Heading: form.Label, Section: "admin", Data: form, Styles: adminStyles,
	})
}

// changeSettings stores the settings of a group.
func (p *Pages) changeSettings(r *page.Request) error {
	group, err := requestedGroup(r)
	if err != nil {
		return err
	}
	form, status, err := p.saveSettings(r, group)
	if err != nil {
		return err
	}
	if status != 0 {
		return p.showSettingForm(r, status, form)
	}
	if r.PostForm.Has("test") {
		return p.testBackup(r, page.SettingsPath+"/backup")
	}
	notice := "Settings saved."
	if slices.ContainsFunc(p.App.Stored.Pending(), func(e config.Editable) bool { return slices.Contains(group.Keys(), e.Key) }) {
		notice = "Settings saved. They apply when you restart the server."
	}
	return p.RedirectWithNotice(r, page.SettingsPath, notice)
}

// testBackup creates a backup in the folder that was stored, even before the server restarts. The page at path says how it
// went.
func (p *Pages) testBackup(r *page.Request, path string) error {
	c := p.App.Stored.Current()
	if c.Backup.To == "" {
		return p.RedirectWithFailure(r, path, "Enter a folder for backups first.")
	}
	for _, e := range p.App.Stored.Pending() {
		if e.Key == "backup.recipients" {
			return p.RedirectWithFailure(r, path, "Settings saved. Restart the server to use the new encryption keys, then test the backup again.")
		}
	}
	if err := p.App.Backups.StartCreate(r.Context(), r.Actor, c.Backup.To); err != nil {
		return p.RedirectWithFailure(r, path, "The test backup failed: "+errorText(err))
	}
	for tick := time.Tick(testBackupPoll); ; {
		state := p.App.Backups.Progress()
		switch {
		case state.Running:
		case state.Err != nil:
			return p.RedirectWithFailure(r, path, "The test backup failed: "+errorText(state.Err))
		default:
			return p.RedirectWithNotice(r, path, "The test backup is in "+state.Result.To+".")
		}
		select {
		case <-tick:
		case <-r.Context().Done():
			return r.Context().Err()
		case <-time.After(testBackupWait - p.Now().Sub(state.Begun)):
			return p.RedirectWithNotice(r, path, "The test backup is still running. See Backups for its result.")
		}
	}
}

// A test backup of a new vault takes less than a second.
const (
	testBackupPoll = 50 * time.Millisecond
	testBackupWait = 10 * time.Second
)
