package model

import "slices"

// Workspace is the initial content of a new vault.
type Workspace struct {
	Templates     []Template // the first is the default
	OrderFields   []Field
	OrderStatuses []string // the first is assigned to new orders
	Folders       []string
	DocumentTypes DocumentTypes
	Phrases       Phrases
}

// Keys of custom fields that rules know. The templates and order fields of a new workspace define them.
const (
	KeyFileNumber     = "file_number"
	KeySearchType     = "search_type"
	KeyEffectiveDate  = "effective_date"
	KeySearchFrom     = "search_from"
	KeyCurrentOwner   = "current_owner"
	KeyBorrower       = "borrower"
	KeyLot            = "subdivision_lot_block"
	keyProduct        = "product"
	keyClient         = "client"
	keyClientFile     = "client_file_number"
	keyBuyer          = "buyer_borrower"
	keySeller         = "seller_owner"
	keyParcel         = "parcel_id"
	keyNewEffective   = "new_effective_date"
	keyPriorEffective = "prior_effective_date"
)

// OwnerKeys are the keys of the custom fields that name owners and borrowers.
var OwnerKeys = []string{KeyCurrentOwner, keySeller, KeyBorrower, keyBuyer}

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
		Phrases:       NewPhrases(),
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
		requiredField(field(KeyFileNumber, "File Number", Text)),
		requiredField(field(KeySearchType, "Search Type", Dropdown, searchTypes...)),
		field(KeyEffectiveDate, "Effective Date", Date),
		field(KeySearchFrom, "Search From", Date),
		field(KeyCurrentOwner, "Current Owner", Text),
		field("vesting", "Vesting", Text),
		field("deed_book_page", "Vesting Deed Book/Page", Text),
		field(KeyBorrower, "Borrower", Text),
		field(KeyLot, "Subdivision, Lot, Block", Text),
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
		requiredField(field(KeyFileNumber, "File Number", Text)),
		requiredField(field(KeyCurrentOwner, "Current Owner", Text)),
		requiredField(field(KeyEffectiveDate, "Effective Date", Date)),
		field("open_mortgages", "Open Mortgages", Paragraph),
		field("judgments_liens", "Judgments and Liens", Paragraph),
		field("tax_status", "Tax Status", Dropdown, taxStatuses...),
	}}
}

func bringDown() Template {
	return Template{Name: "Update / Bring-Down", Fields: []Field{
		requiredField(field(KeyFileNumber, "File Number", Text)),
		requiredField(field("prior_file_number", "Prior File Number", Text)),
		requiredField(field(keyPriorEffective, "Prior Effective Date", Date)),
		requiredField(field(keyNewEffective, "New Effective Date", Date)),
		field("result", "Result", Dropdown, "No Change", "New Matters"),
	}}
}

func orderFields() []Field {
	return []Field{
		field("transaction_type", "Transaction Type", Dropdown, "Purchase", "Refinance", "Home Equity", "Foreclosure", "Commercial"),
		field(keyProduct, "Product", Dropdown, append(slices.Clone(searchTypes), "O&E", "Commercial Abstract", "Bring-Down")...),
		field("underwriter", "Underwriter", Text),
		field(keyClient, "Client", Text),
		field(keyClientFile, "Client File Number", Text),
		field(keyBuyer, "Buyer/Borrower", Text),
		field(keySeller, "Seller/Owner", Text),
		field(keyParcel, "Parcel ID", Text),
		field("rush", "Rush", Dropdown, "Standard", "Rush"),
		field("notes", "Notes", Paragraph),
	}
}
