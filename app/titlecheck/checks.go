package titlecheck

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/model"
)

// The checks pass the part of an ID that makes it unique, and the text of the finding, to add.

func missingDate(s *Search, add func(about, text string) *Finding) {
	if s.Certificate.EffectiveDate == "" {
		add("", "The certificate has no effective date.")
	}
}

func missingTime(s *Search, add func(about, text string) *Finding) {
	if s.Certificate.EffectiveTime == "" {
		add("", "The certificate has no effective time.")
	}
}

func missingStart(s *Search, add func(about, text string) *Finding) {
	if s.Certificate.SearchFrom == "" {
		add("", "The certificate doesn't say when the search period starts.")
	}
}

// voidPrior finds a search that continues another one from the date of a certificate that was voided.
func voidPrior(s *Search, add func(about, text string) *Finding) {
	if from := s.Certificate.SearchFrom; s.Prior.IsVoidThrough(from) {
		add("", "This search starts on "+model.FormatDate(from)+", the effective date of the prior search's certificate. "+
			"That certificate is void.")
	}
}

func missingIndexes(s *Search, add func(about, text string) *Finding) {
	if len(s.Certificate.IndicesSearched) == 0 {
		add("", "The certificate lists no indices.")
	}
}

// recordedLater finds instruments recorded after the date and time through which the indices were searched.
func recordedLater(s *Search, add func(about, text string) *Finding) {
	through, at := s.Certificate.EffectiveDate, s.Certificate.EffectiveTime
	for _, i := range s.Instruments {
		sameDay := i.Recorded == through && at != "" && i.RecordedTime > at
		if through != "" && (i.Recorded > through || sameDay) {
			of(i, add, "", "was "+recorded(i)+" on "+model.FormatDate(i.Recorded)+", after the effective date and time.")
		}
	}
}

// datedLater finds instruments that are dated after they were recorded, so that one of the dates is wrong.
func datedLater(s *Search, add func(about, text string) *Finding) {
	for _, i := range s.Instruments {
		if i.DatedAfterRecorded() {
			of(i, add, "", "is dated "+model.FormatDate(i.Dated)+", after it was "+recorded(i)+" on "+model.FormatDate(i.Recorded)+".")
		}
	}
}

// recorded returns "recorded" or, for a judgment and the like, "filed".
func recorded(i Instrument) string { return strings.ToLower(i.Type.RecordedLabel()) }

// of adds a finding about an instrument.
func of(i Instrument, add func(about, text string) *Finding, about, text string) {
	id := strconv.FormatUint(i.ID, 10)
	if about != "" {
		id += ":" + about
	}
	add(id, i.Heading(i.Type)+" "+text).Instrument = i.ID
}

func gaps(s *Search, add func(about, text string) *Finding) {
	for _, gap := range s.gaps() {
		text := fmt.Sprintf("No earlier instrument in this runsheet names %s as grantee.", gap.Name)
		add(fmt.Sprintf("%d:%s", gap.After, gap.Name), text).Instrument = gap.After
	}
}

// gaps returns the gaps in the chain of title.
func (s *Search) gaps() []model.Gap {
	list := make([]model.Instrument, 0, len(s.Instruments))
	for _, i := range s.Instruments {
		list = append(list, i.Instrument)
	}
	return model.Gaps(list, s.Types)
}

// isInChain reports whether the parties of an instrument are part of the chain of title.
func isInChain(i Instrument) bool {
	return i.Type.Category == model.Conveyance || i.Type.Category == model.Court
}

// missingParties finds conveyances without a grantor or a grantee. The chain can't be followed through them.
func missingParties(s *Search, add func(about, text string) *Finding) {
	for _, i := range s.Instruments {
		if i.Type.Category != model.Conveyance {
			continue
		}
		grantor, grantee := i.Type.Parties()
		if len(i.Grantors) == 0 {
			of(i, add, "grantors", "has no "+strings.ToLower(grantor.Label)+".")
		}
		if len(i.Grantees) == 0 {
			of(i, add, "grantees", "has no "+strings.ToLower(grantee.Label)+".")
		}
	}
}

// unrelatedReleases finds releases that name no instrument of this runsheet or of the prior one, and no
// reference to another.
func unrelatedReleases(s *Search, add func(about, text string) *Finding) {
	for _, i := range s.Instruments {
		if i.Type.Category == model.Release && len(i.Relations) == 0 {
			of(i, add, "", "isn't linked to the instrument that it releases.")
		}
	}
}

// unrelatedAssignments finds assignments that name no instrument, so that the chain of assignments of a mortgage can't
// be followed.
func unrelatedAssignments(s *Search, add func(about, text string) *Finding) {
	for _, i := range s.Instruments {
		if i.Type.IsAssignment() && len(i.Relations) == 0 {
			of(i, add, "", "isn't linked to the instrument that it assigns.")
		}
	}
}

// lastGrantee compares the current owner with the grantees of the last conveyance and of later court papers.
func lastGrantee(s *Search, add func(about, text string) *Finding) {
	owners := model.SplitNames(s.Abstract.Custom.Text(model.KeyCurrentOwner))
	last := -1
	for n, i := range s.Instruments {
		if i.Type.Category == model.Conveyance {
			last = n
		}
	}
	if last < 0 || len(owners) == 0 || len(s.Instruments[last].Grantees) == 0 { // see missingParties
		return
	}
	grantees := s.Instruments[last].Grantees
	later := slices.Clone(grantees)
	for _, i := range s.Instruments[last+1:] {
		if isInChain(i) {
			later = append(later, i.Grantees...)
		}
	}
	missing := func(names, list []string) bool {
		known := model.NewPartyNames()
		for _, name := range list {
			known.Add(name)
		}
		return slices.ContainsFunc(names, func(name string) bool { return !known.HasAll(name) })
	}
	if missing(owners, later) || len(later) == len(grantees) && missing(grantees, owners) {
		text := fmt.Sprintf("The last conveyance in this runsheet names %s as grantee. The abstract names %s as current owner.",
			model.JoinNames(grantees, "; "), model.JoinNames(owners, "; "))
		add("", text).Instrument = s.Instruments[last].ID
	}
}

// namesNotRun checks the names that a search runs.
func namesNotRun(s *Search, add func(about, text string) *Finding) {
	run, pending, seen := s.namesRun(false), s.namesRun(true), model.NewPartyNames()
	s.eachName(func(name, what string, instrument uint64) {
		for _, name := range missingNames(run, name) {
			switch {
			case seen.HasAll(name):
				continue
			case pending.HasAll(name):
				add(name, name+" hasn't been run again since the prior search.")
			default:
				add(name, name+" is "+what+", but not in the names run.").Instrument = instrument
			}
			seen.Add(name)
		}
	})
}

// eachName calls fn for the names that a search runs: those in the chain of title, the current owners, the borrowers,
// and the owners' names in open liens. what says what a name is, and instrument is 0 if it is in the abstract's fields.
func (s *Search) eachName(fn func(name, what string, instrument uint64)) {
	each := func(names []string, what string, instrument uint64) {
		for _, name := range names {
			fn(name, what, instrument)
		}
	}
	for _, i := range s.Instruments {
		if isInChain(i) {
			each(slices.Concat(i.Grantors, i.Grantees), "in the chain", i.ID)
		}
	}
	each(model.SplitNames(s.Abstract.Custom.Text(model.KeyCurrentOwner)), "the current owner", 0)
	each(model.SplitNames(s.Abstract.Custom.Text(model.KeyBorrower)), "the borrower", 0)
	for _, i := range s.Instruments {
		if i.isOpenLien() {
			owners, _ := i.Type.SplitParties(i.Grantors, i.Grantees)
			each(owners, "named in an open lien", i.ID)
		}
	}
}

// namesRun returns the names that are run, or those that must be run again since the prior search.
func (s *Search) namesRun(pending bool) partyNames {
	names := model.NewPartyNames()
	for _, row := range s.Work.NamesRun {
		if row.Pending == pending {
			names.Add(row.Name)
		}
	}
	return names
}

// partyNames is a set of names (model.NewPartyNames).
type partyNames interface {
	HasAll(name string) bool
	Missing(name string) []string
}

// missingNames returns the parts of a name that aren't run. Officials act by office, so they aren't run.
func missingNames(run partyNames, name string) []string {
	return slices.DeleteFunc(run.Missing(name), model.IsOfficial)
}

// IsOpenLien reports whether an instrument of a type is a mortgage or another lien that shows as open.
func IsOpenLien(t model.DocumentType, status string) bool {
	return t.Encumbrance && (t.Category == model.Security || t.Category == model.Lien) && status == model.InstrumentOpen
}

func (i Instrument) isOpenLien() bool { return IsOpenLien(i.Type, i.Status) }

func openLiens(s *Search, add func(about, text string) *Finding) {
	required := map[uint64]bool{}
	for _, row := range s.Requirements {
		required[row.InstrumentID] = required[row.InstrumentID] || row.Kind == model.RequirementKind
	}
	for _, i := range s.Instruments {
		if i.isOpenLien() && !required[i.ID] {
			of(i, add, "", "shows as open in this runsheet, and no requirement refers to it.")
		}
	}
}

// contradictions finds instruments that a person marked as open although they ended.
func contradictions(s *Search, add func(about, text string) *Finding) {
	ends := map[uint64]Instrument{}
	for _, i := range s.Instruments {
		for _, r := range i.Relations {
			if r.Ends() {
				ends[r.InstrumentID] = i
			}
		}
	}
	for _, i := range s.Instruments {
		if i.Instrument.Status != model.InstrumentOpen {
			continue
		}
		if by, ended := ends[i.ID]; ended {
			of(i, add, "ended", "is marked as open, but "+by.Heading(by.Type)+" releases or terminates it.")
		}
		if i.Expires != "" && i.Expires < s.Today {
			of(i, add, "expired", "is marked as open, but its expiration date was "+model.FormatDate(i.Expires)+".")
		}
	}
}

// otherPlaces finds instruments of another county, state, or parcel than the abstract's.
func otherPlaces(s *Search, add func(about, text string) *Finding) {
	for _, i := range s.Instruments {
		for _, d := range i.PlaceDifferences(s.Abstract) {
			of(i, add, d.Field, d.String()+".")
		}
	}
}

// notRecorded finds instruments without a recording date, or without a book and page or a number. Tax bills,
// correspondence, and other supporting papers may have none.
func notRecorded(s *Search, add func(about, text string) *Finding) {
	for _, i := range s.Instruments {
		if i.Type.Category == model.Support || i.Type.Category == model.Tax {
			continue
		}
		var missing []string
		if i.Recorded == "" {
			missing = append(missing, map[bool]string{false: "no recording date", true: "no filing date"}[i.Type.IsFiled()])
		}
		if (i.Book == "" || i.Page == "") && cmp.Or(i.Number, i.CaseNumber, i.CertificateOfTitle) == "" {
			missing = append(missing, "no book and page or number")
		}
		if len(missing) > 0 {
			of(i, add, "", "has "+strings.Join(missing, " and ")+".")
		}
	}
}

// eachDocument calls fn for the documents of an abstract, apart from the runsheets of its certificates.
func (s *Search) eachDocument(fn func(Document)) {
	for _, d := range s.Documents {
		if !slices.ContainsFunc(s.Work.Certificates, func(c model.Certificate) bool { return c.FileID == d.ID }) {
			fn(d)
		}
	}
}

// unlinkedDocuments finds documents without an instrument. A supporting paper, by its name, needs none.
func unlinkedDocuments(s *Search, add func(about, text string) *Finding) {
	linked := map[uint64]bool{}
	for _, i := range s.Instruments {
		for _, d := range i.Documents {
			linked[d.FileID] = true
		}
	}
	s.eachDocument(func(d Document) {
		if !linked[d.ID] && !s.isSupport(d.Filename) {
			add(strconv.FormatUint(d.ID, 10), d.Filename+" isn't linked to an instrument on the runsheet.").Document = d.ID
		}
	})
}

// isSupport reports whether a filename names a type of supporting papers, such as "Starter 12 Elm St.pdf". The
// type Other says nothing.
func (s *Search) isSupport(filename string) bool {
	if name, ok := model.TypeInTitle(filename, s.Types); ok {
		t, _ := s.Types.ByName(name)
		return t.Category == model.Support
	}
	words := " " + model.NormalizeText(filename) + " "
	return slices.ContainsFunc(s.Types, func(t model.DocumentType) bool {
		return t.Category == model.Support && t.Name != "Other" && strings.Contains(words, " "+model.NormalizeText(t.Name)+" ")
	})
}

func unopenedDocuments(s *Search, add func(about, text string) *Finding) {
	s.eachDocument(func(d Document) {
		if !d.Opened {
			add(strconv.FormatUint(d.ID, 10), "No one has opened "+d.Filename+".").Document = d.ID
		}
	})
}

func unreadScans(s *Search, add func(about, text string) *Finding) {
	s.eachDocument(func(d Document) {
		if d.Unread > 0 {
			text := fmt.Sprintf("The server hasn't read the text of %s of %s.", plural(d.Unread, "page", "pages"), d.Filename)
			add(strconv.FormatUint(d.ID, 10), text).Document = d.ID
		}
	})
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
