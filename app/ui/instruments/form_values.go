package instruments

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Names of form fields whose controls differ from those of other fields.
const (
	fieldType      = "type_id"
	fieldStatus    = "status"
	fieldSystem    = "recording_system"
	fieldParties   = "other_parties"
	fieldRelations = "relations"
	fieldDocuments = "documents"
	fieldPosition  = "position"
)

// fieldSpec describes a field of the form of an instrument. Values of lists are lines of text.
type fieldSpec struct {
	name, label string
	kind        model.FieldType
	isList      bool
	hint        string
}

// fieldGroups are the groups of fields of the form, in display order.
var fieldGroups = []struct {
	heading string
	fields  []fieldSpec
}{
	{"Instrument", []fieldSpec{
		{name: fieldType, label: "Document type"}, {name: "instrument_number", label: "Instrument number"},
		{name: "dated", label: "Dated", kind: model.Date},
		{name: "book_type", label: "Book type", hint: "Deed Book, Official Records, Liber, Plat Cabinet"}, {name: "book", label: "Book"},
		{name: "page", label: "Page"}, {name: "page_to", label: "Last page"}, {name: "recorded", label: "Recorded", kind: model.Date},
		{name: "recorded_time", label: "Time recorded", hint: "Such as 10:42 AM"},
	}},
	{"Parties and amount", []fieldSpec{
		{name: "grantors", label: "Grantor", kind: model.Paragraph, isList: true, hint: "One name per line"},
		{name: "grantees", label: "Grantee", kind: model.Paragraph, isList: true, hint: "One name per line"},
		{name: fieldParties, label: "Other parties", kind: model.Paragraph, hint: "One per line, with the role first, such as Trustee: Ned Cole"},
		{name: "consideration", label: "Amount", kind: model.Money, hint: "Consideration, or the amount of a mortgage or lien"},
	}},
	{"Property", []fieldSpec{
		{name: "parcels", label: "Parcel IDs", kind: model.Paragraph, isList: true, hint: "One per line"},
		{name: "legal", label: "Legal description", kind: model.Paragraph}, {name: "county", label: "County"}, {name: "state", label: "State"},
	}},
	{"Status and related instruments", []fieldSpec{
		{name: fieldStatus, label: "Status"}, {name: "expires", label: "Expires", kind: model.Date, hint: "When a lien, UCC, or lease lapses"},
		{name: fieldRelations, label: "Related instruments"},
	}},
	{"Documents", []fieldSpec{{name: fieldDocuments, label: "Documents that contain this instrument"}}},
	{"Schedule B and remarks", []fieldSpec{
		{name: "requirement", label: "Requirement (Schedule B-I)", kind: model.Paragraph},
		{name: "exception", label: "Exception (Schedule B-II)", kind: model.Paragraph}, {name: "cleared", label: "Cleared", kind: model.Date},
		{name: "remarks", label: "Remarks", kind: model.Paragraph},
	}},
	{"Court and registered land", []fieldSpec{
		{name: "case_number", label: "Case number"}, {name: "court", label: "Court"}, {name: fieldSystem, label: "Recording system"},
		{name: "certificate_of_title", label: "Certificate of title"},
	}},
	{"Runsheet", []fieldSpec{{name: fieldPosition, label: "Position"}}},
}

// inputKind returns the type by which the values of the field are read and compared.
func (f fieldSpec) inputKind() model.FieldType {
	switch {
	case f.kind != "":
		return f.kind
	case f.name == fieldRelations || f.name == fieldDocuments:
		return model.Paragraph
	}
	return model.Text
}

// storedValue returns the value of a field of an instrument as the form shows it.
func storedValue(i vault.InstrumentView, field string) string {
	texts := map[string]string{
		"instrument_number": i.Number, "dated": i.Dated, "book_type": i.BookType, "book": i.Book, "page": i.Instrument.Page, "page_to": i.PageTo,
		"recorded": i.Recorded, "recorded_time": clockTime(i.RecordedTime), "consideration": i.Consideration, "legal": i.Legal,
		"county": i.County, "state": i.State, fieldStatus: i.Instrument.Status, "expires": i.Expires, "requirement": i.Requirement,
		"exception": i.Exception, "cleared": i.Cleared, "remarks": i.Remarks, "case_number": i.CaseNumber, "court": i.Court,
		fieldSystem: i.RecordingSystem, "certificate_of_title": i.CertificateOfTitle,
		"grantors": strings.Join(i.Grantors, "\n"), "grantees": strings.Join(i.Grantees, "\n"), "parcels": strings.Join(i.Parcels, "\n"),
	}
	switch field {
	case fieldType:
		return formatID(i.TypeID)
	case fieldPosition:
		if i.Position == 0 {
			return ""
		}
		return strconv.Itoa(i.Position)
	case fieldParties:
		var lines []string
		for _, party := range i.OtherParties {
			lines = append(lines, strings.TrimPrefix(party.Role+": "+party.Name, ": "))
		}
		return strings.Join(lines, "\n")
	case fieldRelations:
		var lines []string
		for _, r := range i.Relations {
			lines = append(lines, relationLine(r.Kind, formatID(r.InstrumentID), r.Text))
		}
		return strings.Join(lines, "\n")
	case fieldDocuments:
		var lines []string
		for _, d := range i.Documents {
			lines = append(lines, documentLine(formatID(d.FileID), d.Pages))
		}
		return strings.Join(lines, "\n")
	}
	return texts[field]
}

// formatID returns an ID as text, or "" if it is 0.
func formatID(id uint64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatUint(id, 10)
}

// relationLine and documentLine return one row of a field with several controls per row as a line
// whose cells are separated by tabs. Rows without any cell are "".
func relationLine(kind, target, text string) string { return joinCells(kind, target, text) }
func documentLine(file, pages string) string        { return joinCells(file, pages) }

func joinCells(cells ...string) string {
	for n, cell := range cells {
		cells[n] = strings.Join(strings.Fields(cell), " ")
	}
	if line := strings.Join(cells, "\t"); strings.TrimSpace(line) != "" {
		return line
	}
	return ""
}

// splitCells returns the cells of such a line.
func splitCells(line string, count int) []string {
	cells := strings.SplitN(line, "\t", count)
	for len(cells) < count {
		cells = append(cells, "")
	}
	return cells
}

// nonEmptyLines returns the lines of text without the empty ones.
func nonEmptyLines(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// maxFormRows is the maximum number of relations and of documents that a form is read for. The vault
// rejects longer lists.
const maxFormRows = model.MaxListItems + 10

// submittedValue returns the value of a field in a form. sent is false if the form doesn't have it.
func submittedValue(spec fieldSpec, form url.Values) (value string, sent bool) {
	if spec.name == fieldRelations || spec.name == fieldDocuments {
		var lines []string
		for n := range maxFormRows {
			at := func(name string) string {
				key := fmt.Sprintf("%s.%d.%s", spec.name, n, name)
				sent = sent || form.Has(key)
				return form.Get(key)
			}
			line := documentLine(at("file_id"), at("pages"))
			if spec.name == fieldRelations {
				line = relationLine(at("kind"), at("instrument_id"), at("text"))
			}
			if line != "" {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "\n"), sent
	}
	values, sent := form[spec.name]
	mine := page.SubmittedValues(spec.inputKind(), values)
	if len(mine) == 0 {
		return "", sent
	}
	if spec.isList || spec.name == fieldParties {
		return strings.Join(splitLines(mine[0]), "\n"), sent
	}
	return mine[0], sent
}

// patchOf returns the input for an instrument with the values of the named fields.
func patchOf(values map[string]string) (patch vault.InstrumentPatch) {
	patch.Input = model.InstrumentInput{}
	for _, group := range fieldGroups {
		for _, spec := range group.fields {
			value, changed := values[spec.name]
			switch {
			case !changed:
			case spec.name == fieldPosition:
				n, err := strconv.Atoi(strings.TrimSpace(value))
				if err != nil || n < 1 {
					patch.Rejected.Add(fieldPosition, "Enter a row number.")
				}
				patch.Position = n
			case spec.name == fieldParties:
				patch.Input[spec.name] = list(parseParties(value))
			case spec.name == fieldRelations:
				patch.Input[spec.name] = list(parseRelations(value))
			case spec.name == fieldDocuments:
				patch.Input[spec.name] = list(parseDocuments(value))
			case spec.isList:
				patch.Input[spec.name] = list(splitLines(value))
			default:
				patch.Input[spec.name] = textOrNull(value)
			}
		}
	}
	return patch
}

func splitLines(text string) []string {
	lines := []string{}
	for _, line := range nonEmptyLines(text) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func parseParties(text string) []model.Party {
	parties := []model.Party{}
	for _, line := range nonEmptyLines(text) {
		role, name, found := strings.Cut(line, ":")
		if !found {
			role, name = "", line
		}
		parties = append(parties, model.Party{Role: strings.TrimSpace(role), Name: strings.TrimSpace(name)})
	}
	return parties
}

// relationInput and documentInput are the shapes of relations and documents in the input for an
// instrument. IDs are text, so that the vault rejects those that aren't numbers.
type relationInput struct {
	Kind   string `json:"kind"`
	Target string `json:"instrument_id"`
	Text   string `json:"text"`
}

type documentInput struct {
	File  string `json:"file_id"`
	Pages string `json:"pages"`
}

func parseRelations(text string) []relationInput {
	relations := []relationInput{}
	for _, line := range nonEmptyLines(text) {
		cells := splitCells(line, 3)
		relations = append(relations, relationInput{cells[0], cells[1], cells[2]})
	}
	return relations
}

func parseDocuments(text string) []documentInput {
	documents := []documentInput{}
	for _, line := range nonEmptyLines(text) {
		cells := splitCells(line, 2)
		documents = append(documents, documentInput{cells[0], cells[1]})
	}
	return documents
}
