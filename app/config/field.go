package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
)

// field is a key with the location of its value in a Config and the tags of the struct field.
type field struct {
	key   string
	value reflect.Value
	tag   reflect.StructTag
}

// isSecret reports whether the value is never shown.
func (f field) isSecret() bool { return f.tag.Get("secret") == "true" }

// parseTag parses a tag that contains a value of the field. If there is no such tag, it returns the zero value.
func (f field) parseTag(name string) any {
	text, ok := f.tag.Lookup(name)
	if !ok && f.value.Kind() != reflect.Slice {
		return reflect.Zero(f.value.Type()).Interface()
	}
	value, err := decode(f.value.Type(), text)
	if err != nil {
		panic(fmt.Sprintf("tag %s of %s: %v", name, f.key, err)) // can't happen: tests parse all tags
	}
	return value
}

// fields returns the fields of target that have mapstructure tags, in declaration order. target is a pointer to a
// struct. The keys of nested structs contain dots.
func fields(target any) []field {
	return appendFields(nil, "", reflect.ValueOf(target).Elem())
}

func appendFields(all []field, prefix string, section reflect.Value) []field {
	for about, value := range section.Fields() {
		name := about.Tag.Get("mapstructure")
		switch {
		case name == "":
		case value.Kind() == reflect.Struct:
			all = appendFields(all, prefix+name+".", value)
		default:
			all = append(all, field{prefix + name, value, about.Tag})
		}
	}
	return all
}

// allKeys returns all keys in the order of Config.
var allKeys = sync.OnceValue(func() (all []string) {
	for _, f := range fields(new(Config)) {
		all = append(all, f.key)
	}
	return all
})

// decode parses value, which is a string or, from the settings file and from flags, a []string. kind is the type of the
// Config field.
func decode(kind reflect.Type, value any) (any, error) {
	text, isText := value.(string)
	switch {
	case kind.Kind() == reflect.Slice:
		return decodeList(kind, value)
	case !isText:
		return nil, fmt.Errorf("must be one value, not a list")
	}
	result, err := decodeText(kind, strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("%q %w", text, err)
	}
	return result, nil
}

func decodeText(kind reflect.Type, text string) (any, error) {
	switch kind {
	case reflect.TypeFor[Size]():
		return parseSize(text)
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
			return nil, fmt.Errorf("must be true or false")
		}
		return text == "true", nil
	}
	return text, nil
}

// decodeList parses a list. A single text is split at commas, because environment variables can't contain lists.
func decodeList(kind reflect.Type, value any) (any, error) {
	list, isList := value.([]string)
	if text, _ := value.(string); !isList {
		list = strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
	}
	texts, networks := make([]string, len(list)), make([]netip.Prefix, len(list))
	for i, text := range list {
		texts[i] = strings.TrimSpace(text)
		if kind == reflect.TypeFor[[]string]() {
			continue
		}
		var err error
		if networks[i], err = parseNetwork(texts[i]); err != nil {
			return nil, fmt.Errorf("%q %w", texts[i], err)
		}
	}
	if kind == reflect.TypeFor[[]string]() {
		return texts, nil
	}
	return networks, nil
}

func parseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		address = address.Unmap()
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("is not an IP address or network; use 10.0.0.7 or 10.0.0.0/8, for example")
	}
	if network != network.Masked() {
		return netip.Prefix{}, fmt.Errorf("is an address within a network; use %s for the entire network", network.Masked())
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
