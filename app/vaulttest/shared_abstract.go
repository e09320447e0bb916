package vaulttest

import (
	"encoding/json"

	"deedkeep/app/model"
)

func CustomText(key, value string) model.Custom {
	return model.Custom{Values: map[string]json.RawMessage{key: json.RawMessage(value)}}
}
