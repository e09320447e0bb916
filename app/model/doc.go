// Package model defines the domain types of a title firm: abstract, order, file, folder,
// template, custom field, API key, user, session, audit event, and actor. It also holds every
// validation rule that can be decided from one record without the store.
//
// A value accepted by the Check method of a draft or patch may be stored as is. The validation
// messages are part of the API contract and are defined here only (messages.go), so the API,
// the pages, and the command line show the same wording.
//
// IDs are plain numbers in this package. Package api converts the IDs of abstracts and orders
// to the opaque form that clients see.
package model
