// Package model holds the nouns of a title firm: abstract, order, file, folder,
// template, field, key, user, session, event, actor; and the rules of one noun that need no
// storage to decide. It imports nothing of this program.
//
// Promise: what a Draft's Check accepts may be stored as it is. The sentences of
// refusals are wire contract (API.md, "Everywhere") and are made here and nowhere
// else, so that programs and people read the same words.
//
// Numbers are used inside; the opaque ids of abstracts and orders exist only at
// the edge (app/api).
package model
