// Package runsheet writes runsheets as CSV and Excel files, and reads them from such files.
//
// A file has one row per instrument and a header row with the titles of the columns. Names in one
// cell are separated by semicolons; a name that contains one is quoted. A file that WriteCSV or
// WriteExcel wrote is read back with the same values. Files from other sources may have other
// titles, fewer columns, and rows above the header.
package runsheet

import (
	"fmt"
	"slices"
	"strings"

	"deedkeep/app/model"
)

// Row is an instrument in a runsheet.
type Row struct {
	model.Instrument
	Position int
	Type     model.DocumentType
	Status   string         // effective status; "" if it can't be determined
	Number   map[uint64]int // positions of the other instruments by ID, for relations
}

// column is a column of the files, and what its cells are for.
type column struct {
	title   string
	aliases []string // other headings, also those that mean it only sometimes; see ambiguous
	field   string   // one of the choices of Column.Field
	width   float64  // in characters; 0 if the column is only read
	isList  bool     // the cell is a list of names
	value   func(*Row) string
}

// columns are all fields of a runsheet with their headings. Those without a width are read but never
// written.
var columns = []column{
	{title: "No.", aliases: []string{"#", "Item", "Line", "Seq", "Sequence", "Row", "Entry"}, field: Position, width: 5,
		value: func(r *Row) string { return fmt.Sprint(r.Position) }},
	{title: "Type", aliases: []string{"Document Type", "Instrument Type", "Kind", "Type of Instrument", "Type of Document", "Instrument",
		"Document"}, field: "type", width: 22, value: func(r *Row) string { return r.Type.Name }},
	{title: "Instrument Number", aliases: []string{"Document No", "Reception No", "Reception", "File No", "Recording No", "Record No",
		"Entry No", "Clerk's File No", "Clerk File No", "CFN", "Auditor's No", "Recorder's No", "Register No", "Number"},
		field: "instrument_number", width: 18, value: func(r *Row) string { return r.Instrument.Number }},
	{title: "Book Type", aliases: []string{"Record Book", "Records", "Record Type"}, field: "book_type", width: 14,
		value: func(r *Row) string { return r.BookType }},
	{title: "Book", aliases: []string{"Book No", "Book Volume"}, field: "book", width: 8, value: func(r *Row) string { return r.Book }},
	{title: "Page", aliases: []string{"Page No", "Slide", "First Page", "Start Page"}, field: "page", width: 8,
		value: func(r *Row) string { return r.Instrument.Page }},
	{title: "Last Page", aliases: []string{"Page To", "End Page"}, field: "page_to", width: 8,
		value: func(r *Row) string { return r.PageTo }},
	{title: BookPageTitle, aliases: []string{"Book and Page", "O.R. Book/Page", "OR Book/Page", "Recording Reference",
		"Recording Information",
		"Recording Info", "Recording Data", "Recorded In", "Recording", "Reference"}, field: bookPageField},
	{title: "Recorded", aliases: []string{"Recording Date", "Record Date", "Date Recorded", "Recorded Date", "Date Recording",
		"Date of Recording",
		"Recorded On", "Filed", "Date Filed", "Filing Date", "Filed Date", "File Date", "Received", "Date Received", "Reception Date",
		"Recording Date/Time"}, field: "recorded", width: 11, value: func(r *Row) string { return r.Recorded }},
	{title: "Time Recorded", aliases: []string{"Recorded Time", "Recording Time", "Time"}, field: "recorded_time", width: 10,
		value: func(r *Row) string { return r.RecordedTime }},
	{title: "Dated", aliases: []string{"Date", "Instrument Date", "Document Date", "Deed Date", "Date of Instrument", "Date of Document",
		"Date of Deed", "Executed", "Date Executed", "Execution Date", "Signed", "Date Signed"}, field: "dated", width: 11,
		value: func(r *Row) string { return r.Dated }},
	{title: "Grantors", aliases: []string{"Mortgagor", "Grantor/Mortgagor", "Seller", "Vendor", "From", "Debtor", "Judgment Debtor",
		"Borrower",
		"Obligor", "Assignor", "Trustor", "Lessor", "Landlord", "Releasor", "Defendant", "Principal", "Decedent", "Taxpayer", "First Party",
		"Grantor Name"}, field: "grantors", isList: true, width: 28,
		value: func(r *Row) string { return model.JoinNames(r.Grantors, "; ") }},
	{title: "Grantees", aliases: []string{"Mortgagee", "Grantee/Mortgagee", "Buyer", "Purchaser", "Vendee", "To", "Creditor",
		"Judgment Creditor",
		"Lender", "Obligee", "Assignee", "Beneficiary", "Lessee", "Tenant", "Releasee", "Plaintiff", "Secured Party", "Claimant", "Lienor",
		"Lienholder", "Lien Holder", "Attorney-in-Fact", "Second Party", "Grantee Name"}, field: "grantees", isList: true, width: 28,
		value: func(r *Row) string { return model.JoinNames(r.Grantees, "; ") }},
	{title: "Other Parties", aliases: []string{"Other Party", "Trustee", "Nominee"}, field: "other_parties", width: 22,
		value: otherParties},
	{title: "Consideration", aliases: []string{"Amount", "Consid", "Cons", "Price", "Loan Amount", "Mortgage Amount", "Lien Amount", "Judgment Amount",
		"Sale Price", "Purchase Price", "Principal Amount", "Debt"}, field: "consideration", width: 14,
		value: func(r *Row) string { return r.Consideration }},
	{title: "Consideration Text", field: "consideration_text", width: 22, value: func(r *Row) string { return r.ConsiderationText }},
	{title: "Parcel IDs", aliases: []string{"Parcel", "Parcel No", "Tax Map", "Tax Map No", "Tax Map ID", "Tax ID", "Tax Parcel",
		"Tax Parcel ID",
		"APN", "PIN", "SBL"}, field: "parcels", isList: true, width: 18,
		value: func(r *Row) string { return model.JoinNames(r.Parcels, "; ") }},
	{title: "Legal Description", aliases: []string{"Legal", "Description", "Property Description", "Brief Legal", "Legal Desc"},
		field: "legal",
		width: 36, value: func(r *Row) string { return r.Legal }},
	{title: "County", aliases: []string{"Parish"}, field: "county", width: 14, value: func(r *Row) string { return r.County }},
	{title: "State", aliases: []string{"St"}, field: "state", width: 6, value: func(r *Row) string { return r.State }},
	{title: "Case Number", aliases: []string{"Case", "Docket", "Docket No", "Cause No", "Index No"}, field: "case_number", width: 14,
		value: func(r *Row) string { return r.CaseNumber }},
	{title: "Court", field: "court", width: 16, value: func(r *Row) string { return r.Court }},
	{title: "Recording System", field: "recording_system", width: 12, value: func(r *Row) string { return r.RecordingSystem }},
	{title: "Certificate of Title", aliases: []string{"Torrens Certificate"}, field: "certificate_of_title", width: 14,
		value: func(r *Row) string { return r.CertificateOfTitle }},
	{title: "Expires", aliases: []string{"Expiration", "Expiration Date", "Lapse Date", "Maturity", "Maturity Date"}, field: "expires",
		width: 11,
		value: func(r *Row) string { return r.Expires }},
	{title: "Status", field: "status", width: 13, value: func(r *Row) string { return r.Type.StatusText(r.Status) }},
	{title: "Relations", aliases: []string{"Relation", "Releases", "Related Instruments"}, field: "relations", width: 22, value: relations},
	{title: "Requirement", field: "requirement", width: 28, value: func(r *Row) string { return r.Requirement }},
	{title: "Exception", field: "exception", width: 28, value: func(r *Row) string { return r.Exception }},
	{title: "Cleared", aliases: []string{"Date Cleared"}, field: "cleared", width: 11, value: func(r *Row) string { return r.Cleared }},
	{title: "Remarks", aliases: []string{"Comment", "Note", "Memo"}, field: remarks, width: 36,
		value: func(r *Row) string { return r.Remarks }},
	{title: "Documents", aliases: []string{"Tools"}, field: LeaveOut},
}

// written are the columns of the files that WriteCSV and WriteExcel write.
var written = slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return c.width == 0 })

// otherParties formats parties like "Trustee: Ned Cole; Nominee: MERS".
func otherParties(r *Row) string {
	var list []string
	for _, p := range r.OtherParties {
		if p.Role == "" && !strings.Contains(p.Name, ":") {
			list = append(list, p.Name)
		} else {
			list = append(list, p.Role+": "+p.Name)
		}
	}
	return model.JoinNames(list, "; ")
}

// relations formats relations like "releases 3; references Bk 1022 Pg 311". A number alone is the
// No. of another row.
func relations(r *Row) string {
	var list []string
	for _, relation := range r.Relations {
		kind := strings.ReplaceAll(relation.Kind, "_", " ")
		target := quoteNumber(relation.Text)
		if position, ok := r.Number[relation.InstrumentID]; ok {
			target = fmt.Sprint(position)
		}
		if target != "" {
			list = append(list, kind+" "+target)
		}
	}
	return model.JoinNames(list, "; ")
}
