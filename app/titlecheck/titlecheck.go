// Package titlecheck lists what to look at before a search is certified: gaps, open liens without a
// requirement, unread documents, and so on. A finding names what the records say and what to check. It is
// never an opinion of title.
package titlecheck

import (
	"slices"
	"strings"

	"deedkeep/app/model"
)

// Search is a search that is to be certified.
type Search struct {
	Abstract     model.Abstract
	Work         model.TitleWork
	Prior        model.TitleWork // of the search that this one brings down
	Instruments  []Instrument    // in the sequence of the runsheet
	Documents    []Document
	Types        model.DocumentTypes
	Certificate  model.Certificate // its effective date and time, period, and indices
	Requirements []model.RequirementRow
	Today        string // YYYY-MM-DD
}

// Instrument is an instrument with its type and effective status.
type Instrument struct {
	model.Instrument
	Type   model.DocumentType
	Status string
}

// Document is a document of the abstract.
type Document struct {
	model.File
	Opened bool // opened or downloaded by someone
	Unread int  // pages whose text isn't read yet; 0 if the server reads no scans
}

// Place is where a finding is fixed.
type Place string

// The places. A finding can also name an instrument or a document there.
const (
	Runsheet     Place = "runsheet"
	Documents    Place = "documents"
	NamesRun     Place = "names_run"
	Requirements Place = "requirements"
	Fields       Place = "fields"
	Certificate  Place = "certificate"
)

// Finding is something to fix, or to accept with a reason.
type Finding struct {
	ID         string // stays the same as long as the finding does, such as "open_lien:17"
	Check      string // ID of the check
	Text       string // what the records say
	Advice     string // what to check
	Place      Place
	Instrument uint64 // 0 if it is about no instrument
	Document   uint64 // 0 if it is about no document
}

// check is a kind of findings. find passes what it finds to add: the part of the ID that makes it unique, and
// its text.
type check struct {
	id, title, advice string
	place             Place
	find              func(s *Search, add func(about, text string) *Finding)
}

// checks are all checks, in the order in which they are listed.
var checks = []check{
	{"effective_date", "Certificate", "Enter the date through which the indices were searched.", Certificate, missingDate},
	{"effective_time", "Certificate", "Enter the time through which the indices were searched on that date.", Certificate, missingTime},
	{"search_from", "Certificate", "Enter the start of the search.", Certificate, missingStart},
	{"indices_searched", "Certificate", "Enter the indices that were searched.", Certificate, missingIndexes},
	{"prior_search", "Void certificate of the prior search",
		"Certify the prior search through this date again, or start this search earlier.", Certificate, voidPrior},
	{"recorded_later", "Instruments recorded or filed after the effective date",
		"Correct the effective date, or say why the instrument is in this runsheet.", Certificate, recordedLater},
	{"dated_later", "Instruments dated after they were recorded or filed", "Compare both dates with the document.", Runsheet, datedLater},
	{"gap", "Possible gaps in the chain of title",
		"Look for an instrument with this name as grantee, another spelling of the name, or a probate.", Runsheet, gaps},
	{"party", "Missing parties", "Enter the party as named in the document.", Runsheet, missingParties},
	{"last_grantee", "Current owner differs from the last grantee",
		"Compare the last conveyance with the abstract's current owner.", Fields, lastGrantee},
	{"name_not_run", "Names not run", "Run the name, and add it to the names run.", NamesRun, namesNotRun},
	{"open_lien", "Open liens without a requirement", "Look for a release or satisfaction, or add a requirement.", Requirements, openLiens},
	{"release", "Releases without a related instrument", "Under Related instruments, add the instrument that it releases.", Runsheet,
		unrelatedReleases},
	{"assignment", "Assignments without a related instrument",
		"Under Related instruments, add the mortgage or deed of trust that it assigns.", Runsheet,
		unrelatedAssignments},
	{"status", "Status conflicts", "Correct the status, or set it to Automatic.", Runsheet, contradictions},
	{"other_place", "Different county, state, or parcel", "Make sure that the instrument affects this property.", Runsheet, otherPlaces},
	{"not_recorded", "Missing recording information", "Enter it from the document or the county index.", Runsheet, notRecorded},
	{"document_without_instrument", "Documents without an instrument", "Add its instrument, or link it to one on the runsheet.", Documents,
		unlinkedDocuments},
	{"document_not_opened", "Documents that no one has opened", "Read the document page by page.", Documents, unopenedDocuments},
	{"text_not_read", "Scans whose text isn't read yet", "Wait for the text, or read the pages yourself.", Documents, unreadScans},
}

// Title returns the heading of a check, or "" if there is no such check.
func Title(id string) string {
	if at := slices.IndexFunc(checks, func(c check) bool { return c.id == id }); at >= 0 {
		return checks[at].title
	}
	return ""
}

// maxFindings is the maximum number of findings of a check. One more says how many others there are.
const maxFindings = 100

// Run returns all findings, those of the same check together.
func Run(s *Search) (list []Finding) {
	for _, c := range checks {
		start, others := len(list), 0
		c.find(s, func(about, text string) *Finding {
			if len(list)-start >= maxFindings {
				others++
				return &Finding{}
			}
			id := c.id
			if about != "" {
				id += ":" + about
			}
			list = append(list, Finding{ID: id, Check: c.id, Text: text, Advice: c.advice, Place: c.place})
			return &list[len(list)-1]
		})
		if others > 0 {
			text := plural(others, "more finding", "more findings") + " of this type."
			list = append(list, Finding{ID: c.id + ":others", Check: c.id, Text: text, Advice: c.advice, Place: c.place})
		}
	}
	return list
}

// Unaccepted returns the findings that aren't accepted. A row accepts the finding with its ID, or all findings
// of the check with its ID.
func Unaccepted(findings []Finding, accepted []model.AcceptedCheck) []Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool {
		return slices.ContainsFunc(accepted, func(a model.AcceptedCheck) bool { return a.Check == f.ID || a.Check == f.Check })
	})
}

// Proposal returns how the same finding was accepted before. It is the same if it says the same.
func Proposal(f Finding, before []model.AcceptedCheck) (model.AcceptedCheck, bool) {
	for _, a := range before {
		if check, _, _ := strings.Cut(a.Check, ":"); check == f.Check && a.Text == f.Text {
			return a, true
		}
	}
	return model.AcceptedCheck{}, false
}

// maxUnaccepted is the maximum number of findings that a certificate keeps although no one accepted them.
const maxUnaccepted = 100

// Settle returns what a certificate keeps of the findings: each with the reason why it is accepted, and those
// that aren't. Rows for other findings are kept as they are.
func Settle(findings []Finding, rows []model.AcceptedCheck) (accepted, unaccepted []model.AcceptedCheck) {
	used := make([]bool, len(rows))
	for _, f := range findings {
		at := -1
		for n, row := range rows {
			if row.Check == f.ID || row.Check == f.Check {
				used[n] = true
				if at < 0 || row.Check == f.ID { // the reason for this finding wins
					at = n
				}
			}
		}
		if at >= 0 {
			accepted = append(accepted, model.AcceptedCheck{Check: f.ID, Text: f.Text, Reason: rows[at].Reason})
		} else if len(unaccepted) < maxUnaccepted {
			unaccepted = append(unaccepted, model.AcceptedCheck{Check: f.ID, Text: f.Text})
		}
	}
	for n, row := range rows {
		if !used[n] {
			accepted = append(accepted, row)
		}
	}
	return accepted, unaccepted
}
