package sandbox

import _ "github.com/landlock-lsm/go-landlock/landlock"
