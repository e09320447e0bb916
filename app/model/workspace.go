package model

import "slices"

// Workspace is the initial content of a new vault.
type Workspace struct {
	Templates     []Template // the first is the default
	OrderFields   []Field
	OrderStatuses []string // the first is assigned to new orders
	Folders       []string
	DocumentTypes DocumentTypes
}

var (
	searchTypes    = []string{"Current Owner", "Two Owner", "30 Year", "40 Year", "60 Year", "Full Search", "Update"}
	searchStatuses = []string{"New", "In Search", "In Exam", "Needs Curative", "Complete", "Cancelled"}
	indices        = []string{"Grantor/Grantee", "Mortgages", "Judgments", "Lis Pendens", "Federal/State Tax Liens", "UCC",
		"Probate", "Bankruptcy", "Plats"}
	taxStatuses = []string{"Paid", "Due", "Delinquent", "Exempt", "Unknown"}
)

// NewWorkspace returns templates, order fields, and folders that suit a typical US title firm.
func NewWorkspace() Workspace {
	return Workspace{
		Templates:     []Template{residential(), commercial(), ownership(), bringDown()},
		OrderFields:   orderFields(),
		OrderStatuses: []string{"active", "on_hold", "completed", "cancelled"},
		Folders:       []string{"Inbox", "Starters & Prior Abstracts", "Plats & Surveys", "Underwriter Bulletins"},
		DocumentTypes: NewDocumentTypes(),
	}
}

func field(key, label string, kind FieldType, options ...string) Field {
	return Field{Key: key, Label: label, Type: kind, Options: options}
}

func requiredField(f Field) Field {
	f.Required = true
	return f
}

func residential() Template {
	return Template{Name: "Residential Abstract", Statuses: searchStatuses, Fields: []Field{
		requiredField(field("file_number", "File Number", Text)),
		requiredField(field("search_type", "Search Type", Dropdown, searchTypes...)),
		field("effective_date", "Effective Date", Date),
		field("search_from", "Search From", Date),
		field("current_owner", "Current Owner", Text),
		field("vesting", "Vesting", Text),
		field("deed_book_page", "Vesting Deed Book/Page", Text),
		field("borrower", "Borrower", Text),
		field("subdivision_lot_block", "Subdivision, Lot, Block", Text),
		field("indices_searched", "Indices Searched", Multiselect, indices...),
		field("names_run", "Names Run", Paragraph),
		field("legal_description", "Legal Description", Paragraph),
		field("tax_status", "Tax Status", Dropdown, taxStatuses...),
		field("exceptions", "Exceptions", Paragraph),
	}}
}

func commercial() Template {
	t := residential()
	t.Name = "Commercial Abstract"
	t.Fields = append(t.Fields,
		field("entity_names", "Entity Names", Paragraph),
		field("survey_date", "Survey Date", Date),
		field("zoning", "Zoning", Text),
		field("environmental_liens", "Environmental Liens", Dropdown, "None Found", "Found", "Not Searched"))
	return t
}

func ownership() Template {
	return Template{Name: "Ownership and Encumbrance Report", Fields: []Field{
		requiredField(field("file_number", "File Number", Text)),
		requiredField(field("current_owner", "Current Owner", Text)),
		requiredField(field("effective_date", "Effective Date", Date)),
		field("open_mortgages", "Open Mortgages", Paragraph),
		field("judgments_liens", "Judgments and Liens", Paragraph),
		field("tax_status", "Tax Status", Dropdown, taxStatuses...),
	}}
}

func bringDown() Template {
	return Template{Name: "Update / Bring-Down", Fields: []Field{
		requiredField(field("file_number", "File Number", Text)),
		requiredField(field("prior_file_number", "Prior File Number", Text)),
		requiredField(field("prior_effective_date", "Prior Effective Date", Date)),
		requiredField(field("new_effective_date", "New Effective Date", Date)),
		field("result", "Result", Dropdown, "No Change", "New Matters"),
	}}
}

func orderFields() []Field {
	return []Field{
		field("transaction_type", "Transaction Type", Dropdown, "Purchase", "Refinance", "Home Equity", "Foreclosure", "Commercial"),
		field("product", "Product", Dropdown, append(slices.Clone(searchTypes), "O&E", "Commercial Abstract", "Bring-Down")...),
		field("underwriter", "Underwriter", Text),
		field("client", "Client", Text),
		field("client_file_number", "Client File Number", Text),
		field("buyer_borrower", "Buyer/Borrower", Text),
		field("seller_owner", "Seller/Owner", Text),
		field("parcel_id", "Parcel ID", Text),
		field("rush", "Rush", Dropdown, "Standard", "Rush"),
		field("notes", "Notes", Paragraph),
	}
}
