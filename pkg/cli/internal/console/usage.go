package console

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/skillpm/skillpm/pkg/diag"
)

// kinds describe the expected value of a flag, by its type.
func kinds(flagType string) string {
	switch flagType {
	case "int":
		return "a whole number"
	case "float64":
		return "a number, as 0.5"
	case "duration":
		return "a time with its unit, as 30s or 5m"
	case "bool":
		return "true or false"
	}
	return ""
}

// FlagError rewords an error about a flag.
func FlagError(err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if kind := kinds(invalid.GetFlag().Value.Type()); kind != "" && errors.Is(err, strconv.ErrRange) {
			return diag.Errorf(diag.Usage, "--%s %q is too large or too small", invalid.GetFlag().Name,
				invalid.GetValue())
		} else if kind != "" {
			return diag.Errorf(diag.Usage, "--%s %q is not %s", invalid.GetFlag().Name, invalid.GetValue(), kind)
		}
		return diag.Errorf(diag.Usage, "--%s %q: %v", invalid.GetFlag().Name, invalid.GetValue(), errors.Unwrap(err))
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return diag.Errorf(diag.Usage, "--%s needs a value", missing.GetFlag().Name)
	}
	return diag.Errorf(diag.Usage, "%v", err)
}
