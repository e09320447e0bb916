package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// field is a key with the location of its value in a Config.
type field struct {
	key    string
	value  reflect.Value
	secret bool
}

// fields returns the fields of target that have mapstructure tags, in declaration order. target is a pointer to a
// struct. The keys of nested structs contain dots. A field with the tag `secret:"true"` has a value that is never
// shown.
func fields(target any) []field {
	return appendFields(nil, "", reflect.ValueOf(target).Elem())
}

func appendFields(all []field, prefix string, section reflect.Value) []field {
	for i := range section.NumField() {
		about := section.Type().Field(i)
		name := about.Tag.Get("mapstructure")
		if name == "" {
			continue
		}
		value := section.Field(i)
		if value.Kind() == reflect.Struct {
			all = appendFields(all, prefix+name+".", value)
			continue
		}
		all = append(all, field{key: prefix + name, value: value, secret: about.Tag.Get("secret") == "true"})
	}
	return all
}

// rawValue is a value that hasn't been parsed yet: either one text or a list of texts.
type rawValue struct {
	text   string
	list   []string
	isList bool
}

// decode parses value. kind is the type of the Config field.
func decode(kind reflect.Type, value rawValue) (any, error) {
	if kind.Kind() == reflect.Slice {
		return decodeList(kind, value)
	}
	if value.isList {
		return nil, fmt.Errorf("must be one value, not a list")
	}
	result, err := decodeText(kind, strings.TrimSpace(value.text))
	if err != nil {
		return nil, fmt.Errorf("%q %w", value.text, err)
	}
	return result, nil
}

func decodeText(kind reflect.Type, text string) (any, error) {
	switch kind {
	case reflect.TypeFor[Size]():
		return ParseSize(text)
	case reflect.TypeFor[time.Duration]():
		return ParseDuration(text)
	case reflect.TypeFor[int]():
		number, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("is not a whole number")
		}
		return number, nil
	case reflect.TypeFor[bool]():
		if text != "true" && text != "false" {
			return nil, fmt.Errorf("is neither true nor false")
		}
		return text == "true", nil
	}
	return text, nil
}

// decodeList parses a list. A single text is split at commas, because environment variables can't contain lists.
func decodeList(kind reflect.Type, value rawValue) (any, error) {
	list := value.list
	if !value.isList {
		list = strings.FieldsFunc(value.text, func(r rune) bool { return r == ',' })
	}
	texts, networks := make([]string, 0, len(list)), make([]netip.Prefix, 0, len(list))
	for _, text := range list {
		text = strings.TrimSpace(text)
		texts = append(texts, text)
		if kind != reflect.TypeFor[[]netip.Prefix]() {
			continue
		}
		network, err := parseNetwork(text)
		if err != nil {
			return nil, fmt.Errorf("%q %w", text, err)
		}
		networks = append(networks, network)
	}
	if kind == reflect.TypeFor[[]netip.Prefix]() {
		return networks, nil
	}
	return texts, nil
}

func parseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		address = address.Unmap()
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("is neither an address nor a network; write it like 10.0.0.7 or 10.0.0.0/8")
	}
	if network != network.Masked() {
		return netip.Prefix{}, fmt.Errorf("is an address within a network; write %s for all of it", network.Masked())
	}
	return network, nil
}

// formatValue formats value in the syntax that decode parses. List elements are separated by commas.
func formatValue(value reflect.Value) string {
	switch v := value.Interface().(type) {
	case time.Duration:
		return FormatDuration(v)
	case []string:
		return strings.Join(v, ", ")
	case []netip.Prefix:
		texts := make([]string, len(v))
		for i, network := range v {
			texts[i] = network.String()
		}
		return strings.Join(texts, ", ")
	default:
		return fmt.Sprint(v)
	}
}
