// Package model defines the domain types of a title firm: abstract, order, file, folder,
// template, custom field, API key, user, session, audit event, and actor. It also contains every
// validation rule that doesn't need the store.
//
// A value that the Check method of a draft or patch accepts can be stored as it is. The
// validation messages are part of the API contract. They are defined here and in package errs, so the
// API, the pages, and the command line show the same wording.
//
// IDs are plain numbers in this package. Package api converts the IDs of abstracts and orders
// to the opaque form that clients see.
package model
