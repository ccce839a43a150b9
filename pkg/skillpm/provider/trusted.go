package provider

import (
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// Trusted returns whose signatures the user trusts: the keys of files, and those that the settings name.
func (t *Tools) Trusted(files []string) (w trust.Wanted, err error) {
	config, err := t.Machine.UserConfig()
	if err != nil {
		return w, err
	}
	all := make([]string, 0, len(files)+len(config.TrustedKeys))
	for _, file := range files {
		all = append(all, t.Machine.Abs(file))
	}
	for _, name := range config.TrustedKeys {
		all = append(all, config.File(name))
	}
	for _, file := range all {
		if err := keyFile(file, &w); err != nil {
			return w, err
		}
	}
	return w, nil
}

// ReadKeys reads files of public keys, and of allowed signers of git tags.
func ReadKeys(files []string) (w trust.Wanted, err error) {
	for _, file := range files {
		if err := keyFile(file, &w); err != nil {
			return w, err
		}
	}
	return w, nil
}
