package model

import "deedkeep/app/errs"

// validation collects the field errors of a draft, in the order in which its fields
// are checked.
type validation struct{ errs.Fields }
