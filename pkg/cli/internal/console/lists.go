package console

import (
	"reflect"
	"strings"
)

// withLists returns a value whose lists and maps that are nil are empty, because a document has [] and {} for no
// elements, never null.
// It changes what the value points to. Fields with omitzero keep nil: they are left out.
func withLists(v any) any {
	if v == nil {
		return nil
	}
	whole := reflect.New(reflect.TypeOf(v)).Elem()
	whole.Set(reflect.ValueOf(v))
	fillLists(whole)
	return whole.Interface()
}

func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillLists(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field, value := v.Type().Field(i), v.Field(i)
			tag := field.Tag.Get("json")
			if tag != "-" && (value.CanSet() || field.Anonymous) && !strings.HasSuffix(tag, ",omitzero") {
				fillLists(value)
			}
		}
	case reflect.Slice:
		if v.IsNil() && v.CanSet() && v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			fillLists(v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() && v.CanSet() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			fillLists(value)
			v.SetMapIndex(key, value)
		}
	default: // without lists
	}
}
