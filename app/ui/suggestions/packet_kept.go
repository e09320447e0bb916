package suggestions

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/ui/page"
)

// carry enters what a person changed in the form before instruments were split or merged. It keeps what was entered for an
// instrument that isn't one anymore, until its page starts one again. It returns the choices for instruments that the
// runsheet has already.
func (pk *packet) carry(before *packet, form url.Values) url.Values {
	choices := url.Values{}
	pk.Checked, pk.Kept = before.Checked, before.Kept
	for _, old := range before.Parts {
		part := pk.partAt(old.First)
		if old.Form == nil || part != nil && part.Form == nil {
			continue
		}
		if part == nil {
			pk.keep(old)
			continue
		}
		part.enter(old.changed)
		if part.left = old.left; !old.isBlank() {
			part.Chosen = old.Chosen
		}
		choices.Set(page.RowField(part.Number()), form.Get(page.RowField(old.Number())))
	}
	pk.Kept = slices.DeleteFunc(slices.Clone(pk.Kept), func(k keptValue) bool {
		part := pk.partAt(k.Start)
		if part == nil || part.Form == nil {
			return false
		}
		part.enter(map[string]string{k.Field: k.Value})
		return true
	})
	return choices
}

// partAt returns the part that starts on a page, or nil.
func (pk *packet) partAt(start int) *packetPart {
	at := slices.IndexFunc(pk.Parts, func(part *packetPart) bool { return part.First == start })
	if at < 0 {
		return nil
	}
	return pk.Parts[at]
}

// enter enters values that a person typed.
func (part *packetPart) enter(values map[string]string) {
	if part.changed == nil {
		part.changed = map[string]string{}
	}
	for name, value := range values {
		part.Form.Fill(name, value)
		part.changed[name] = value
	}
}

// keptValue is a value that a person entered for the instrument that started on a page, before it was merged.
type keptValue struct {
	Start        int
	Field, Value string
}

// maxChecked is the maximum number of fields that a form says were checked.
const maxChecked = 10_000

// maxKept is the maximum number of kept values.
const maxKept = 1000

// keep keeps what was entered for a part that was merged. Where the part started, its fields are to be checked again.
func (pk *packet) keep(old *packetPart) {
	for _, name := range slices.Sorted(maps.Keys(old.changed)) {
		pk.Kept = append(pk.Kept, keptValue{old.First, name, old.changed[name]})
	}
	prefix := old.BoundaryName()
	pk.Checked = slices.DeleteFunc(slices.Clone(pk.Checked), func(name string) bool { return strings.HasPrefix(name, prefix) })
}

// readKept returns the kept values of a form, each as "9 book 12".
func readKept(list []string) (kept []keptValue) {
	for _, text := range list[:min(len(list), maxKept)] {
		if parts := strings.SplitN(text, " ", 3); len(parts) == 3 {
			start, _ := strconv.Atoi(parts[0])
			kept = append(kept, keptValue{start, parts[1], parts[2]})
		}
	}
	return kept
}
