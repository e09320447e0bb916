// Package extract reads fields from the text of a recorded instrument: its type, where and when it was
// recorded, its parties, the consideration, and the property. The fields are only suggestions. A field
// that the text doesn't state clearly is left out.
//
// The patterns and the words are in rules.yaml, and an administrator can add patterns for counties. A
// pattern is a Go regular expression (RE2) whose named groups are fields.
package extract
