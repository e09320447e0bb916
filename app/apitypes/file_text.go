package apitypes

// FileText is the response of GET /file-vault/files/{n}/text. Links and Meta are those of the list of pages.
type FileText struct {
	Data  TextPages `json:"data"`
	Links Links     `json:"links"`
	Meta  Meta      `json:"meta"`
}

// TextPages is the text of a document. Status is "pending", "partial", "complete", or "none".
type TextPages struct {
	Status     string         `json:"status"`
	OCREnabled bool           `json:"ocr_enabled"`
	Pages      List[PageText] `json:"pages"`
}

// PageText is the text of a page. Source is "text", "ocr", or "none". Confidence is 0 to 100, and nil unless Source is "ocr".
type PageText struct {
	Page       int64  `json:"page"`
	Source     string `json:"source"`
	Confidence *int64 `json:"confidence"`
	Text       string `json:"text"`
}
