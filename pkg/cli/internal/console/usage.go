package console

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skillpm/skillpm/pkg/diag"
)

// kinds describe the expected value of a flag, by its type.
func kinds(flagType string) string {
	switch flagType {
	case "int", "int64":
		return "a whole number"
	case "float64":
		return "a number such as 0.5"
	case "duration":
		return "a duration such as 30s or 5m"
	case "bool":
		return "true or false"
	}
	return ""
}

// UnknownFlag adds a hint to an error about a flag that the command does not have.
func UnknownFlag(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return FlagError(err)
	}
	name := unknown.GetSpecifiedName()
	failed := diag.Errorf(diag.Usage, "unknown flag: --%s", name)
	if unknown.GetSpecifiedShortnames() != "" {
		failed = diag.Errorf(diag.Usage, "unknown flag: -%s", name)
	}
	if hint := flagHint(cmd, name); hint != "" {
		return failed.WithHint("%s", hint)
	}
	return failed
}

// FlagError rewords an error about a flag.
func FlagError(err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return diag.Errorf(diag.Usage, "--%s %w", invalid.GetFlag().Name, VariableError(err))
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return diag.Errorf(diag.Usage, "--%s needs a value", missing.GetFlag().Name)
	}
	return diag.Errorf(diag.Usage, "%v", err)
}

// VariableError rewords an error about the value of a flag, without the flag's name: the value is a variable's.
func VariableError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	value := invalid.GetValue()
	switch kind := kinds(invalid.GetFlag().Value.Type()); {
	case kind != "" && errors.Is(err, strconv.ErrRange):
		return diag.Errorf(diag.Usage, "%q is out of range", value)
	case kind != "":
		return diag.Errorf(diag.Usage, "%q is not %s", value, kind)
	}
	return diag.Errorf(diag.Usage, "%q is invalid: %v", value, errors.Unwrap(err))
}
