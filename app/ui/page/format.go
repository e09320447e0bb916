package page

import (
	"cmp"
	"fmt"
	"html/template"
	"reflect"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/model"
)

// FormatDate formats a date as Jan 2, 2006. If text is not in the form YYYY-MM-DD, it is returned
// unchanged.
func FormatDate(text string) string { return model.FormatDate(text) }

// formatTime returns an HTML time element for a time, formatted in the configured time zone. It
// returns "" for the zero time.
func (si *Site) formatTime(at any) template.HTML {
	var moment time.Time
	switch at := at.(type) {
	case time.Time:
		moment = at
	case *time.Time:
		if at != nil {
			moment = *at
		}
	}
	if moment.IsZero() {
		return ""
	}
	return timeElement(moment, "", ClockTime(moment.In(si.Zone())))
}

// formatDay returns an HTML time element that shows the date in the configured time zone. The time
// of day is in its title. It returns "" for the zero time.
func (si *Site) formatDay(moment time.Time) template.HTML {
	if moment.IsZero() {
		return ""
	}
	local := moment.In(si.Zone())
	return timeElement(moment, ClockTime(local), local.Format("Jan 2, 2006"))
}

// timeElement returns an HTML time element whose datetime attribute is the machine-readable time.
func timeElement(moment time.Time, title, text string) template.HTML {
	if title != "" {
		title = ` title="` + title + `"`
	}
	return template.HTML(`<time datetime="` + moment.UTC().Format(time.RFC3339) + `"` + title + `>` + text + `</time>`) // #nosec G203 -- a time has no markup
}

// ClockTime formats a time with its zone: Nov 21, 2026, 8:44 PM EST.
func ClockTime(at time.Time) string { return at.Format("Jan 2, 2006, 3:04 PM ") + zoneName(at) }

// zoneName returns the abbreviation of the time zone, or its offset from UTC if it has none.
func zoneName(at time.Time) string {
	name, _ := at.Zone()
	if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
		return "UTC" + name
	}
	return name
}

// LocalNow returns the current time in the configured time zone.
func (si *Site) LocalNow() time.Time { return si.Now().In(si.Zone()) }

// Today returns the current date in the configured time zone.
func (si *Site) Today() string { return si.LocalNow().Format(time.DateOnly) }

// FormatSize formats a number of bytes with a decimal unit, such as MB.
func FormatSize(bytes any) string {
	n, err := strconv.ParseFloat(fmt.Sprint(bytes), 64)
	switch {
	case err != nil:
		return ""
	case n < 1000:
		return Plural(int(n), "byte", "bytes")
	}
	for _, unit := range []string{"KB", "MB", "GB"} {
		if n /= 1000; n < 999.5 {
			if n < 9.95 {
				return fmt.Sprintf("%.1f %s", n, unit)
			}
			return fmt.Sprintf("%.0f %s", n, unit)
		}
	}
	return fmt.Sprintf("%.1f TB", n/1000)
}

// FormatCount formats an integer of any type, or the integer that a pointer refers to, with commas as
// thousands separators.
func FormatCount(n any) string {
	digits, negative := strings.CutPrefix(fmt.Sprint(reflect.Indirect(reflect.ValueOf(n))), "-")
	if negative {
		return "-" + model.InsertCommas(digits)
	}
	return model.InsertCommas(digits)
}

// Plural returns the count n followed by the singular or plural noun.
func Plural(n any, one, many string) string {
	if text := FormatCount(n); text != "1" {
		return text + " " + many
	}
	return "1 " + one
}

// FormatAge formats an age in minutes, hours, or days.
func FormatAge(d time.Duration) string {
	switch {
	case d < 2*time.Hour:
		return Plural(int(d/time.Minute), "minute", "minutes")
	case d < 48*time.Hour:
		return Plural(int(d/time.Hour), "hour", "hours")
	}
	return Plural(int(d/(24*time.Hour)), "day", "days")
}

// FormatDuration formats a duration in the largest unit that divides it evenly.
func FormatDuration(d time.Duration) string {
	for _, unit := range []struct {
		of        time.Duration
		one, many string
	}{{365 * Day, "year", "years"}, {Day, "day", "days"}, {time.Hour, "hour", "hours"}, {time.Minute, "minute", "minutes"}} {
		if d >= unit.of && d%unit.of == 0 {
			return Plural(int(d/unit.of), unit.one, unit.many)
		}
	}
	return d.String()
}

// FormatStatus returns the display text of a status: on_hold becomes "On hold". Statuses with
// spaces or capital letters are returned unchanged.
func FormatStatus(status string) string { return model.FormatStatus(status) }

// InstrumentStatus returns the display text of a status that a person set for an instrument of a type.
func InstrumentStatus(t model.DocumentType, status string) string {
	if status == "" {
		return ""
	}
	return cmp.Or(t.StatusText(status), FormatStatus(status))
}

// statusTone returns the color class for a status, based on keywords. It returns "" for orders that
// ended without a result, such as canceled orders.
func statusTone(status string) string {
	word := model.Fold(status)
	switch {
	case strings.HasPrefix(word, "cancel"), strings.HasPrefix(word, "void"), strings.HasPrefix(word, "withdrawn"):
		return ""
	case !model.IsOpenStatus(status):
		return "good"
	case strings.HasPrefix(word, "need"), strings.Contains(word, "hold"), strings.Contains(word, "curative"), strings.Contains(word, "problem"):
		return "warn"
	}
	return "neutral"
}

// dueLabel says how soon an order is due: the text of a badge and its CSS class. Both are "" if the
// order is finished, has no due date, or is not due soon.
type dueLabel struct{ Word, Tone string }

func (si *Site) dueLabel(o model.Order) dueLabel { return dueLabelOn(o, si.Today()) }

// daysBetween returns the number of days between two dates at midnight. It doesn't use
// time.Duration, which is limited to 292 years.
func daysBetween(from, to time.Time) int { return int((to.Unix() - from.Unix()) / (24 * 60 * 60)) }

func dueLabelOn(o model.Order, today string) dueLabel {
	due, err := time.Parse(time.DateOnly, o.DueDate)
	now, err2 := time.Parse(time.DateOnly, today)
	if err != nil || err2 != nil || !o.IsOpen() {
		return dueLabel{}
	}
	switch days := daysBetween(now, due); {
	case days < 0:
		return dueLabel{Plural(-days, "day", "days") + " overdue", "warn"}
	case days == 0:
		return dueLabel{"Due today", "warn"}
	case days == 1:
		return dueLabel{"Due tomorrow", ""}
	case days <= instance.DueDays:
		return dueLabel{"Due in " + Plural(days, "day", "days"), ""}
	}
	return dueLabel{}
}

// Day is 24 hours.
const Day = 24 * time.Hour

// failureTexts maps the stored wording of processing failures to the wording on pages.
var failureTexts = strings.NewReplacer(
	model.FailureNoPreview+":", "No preview:",
	model.FailureNoText+":", "No searchable text:",
	"the document is beyond the limits", "the document exceeds the size limits",
	model.FailureNotOpened, "The server couldn't open the document. Try again later.",
)

// failureText returns why the processing of a document failed, as shown on pages.
func failureText(stored string) string { return failureTexts.Replace(stored) }

// FieldType is a custom field type with its label.
type FieldType struct {
	Type    model.FieldType
	Label   string
	Chooses bool
}

// FieldTypes lists the custom field types in the order that forms show them.
var FieldTypes = []FieldType{
	{model.Text, "Text, single line", false}, {model.Paragraph, "Paragraph, multiple lines", false}, {model.Date, "Date", false},
	{model.Dropdown, "Dropdown, single choice", true}, {model.Multiselect, "Multiselect, multiple choices", true},
	{model.Number, "Number", false}, {model.Checkbox, "Checkbox, yes or no", false},
	{model.Money, "Money, dollars and cents", false}, {model.Email, "Email address", false}, {model.Phone, "Phone number", false}, {model.URL, "Web address (URL)", false},
}

// fieldTypeLabel returns the label of a type up to the first comma.
func fieldTypeLabel(kind model.FieldType) string {
	for _, k := range FieldTypes {
		if k.Type == kind {
			label, _, _ := strings.Cut(k.Label, ",")
			return label
		}
	}
	return string(kind)
}

// roleNames maps each role to its name and description.
var roleNames = map[model.Role][2]string{
	model.RoleViewer: {"Viewer", "Can search, read, and download. Can't make changes."},
	model.RoleStaff:  {"Staff", "Can also upload, edit, and delete."},
	model.RoleAdmin:  {"Administrator", "Can also manage users, API keys, templates, and backups."},
}

// RoleName returns the display name of a role, such as "Viewer".
func RoleName(role model.Role) string { return roleNames[role][0] }

// roleText returns the description of a role.
func roleText(role model.Role) string { return roleNames[role][1] }

// matchLabel returns the label of the field that matched a search.
func matchLabel(by string) string {
	switch by {
	case "order_number":
		return "Order number"
	case "file_number":
		return "File number"
	case "parcel":
		return "Parcel ID"
	}
	return "Address"
}

// UpperFirst returns an English text with a capital letter at the start.
func UpperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// WithArticle returns an English name of a thing with its article: "an instrument".
func WithArticle(name string) string {
	if strings.ContainsAny(name[:1], "aeio") {
		return "an " + name
	}
	return "a " + name
}
