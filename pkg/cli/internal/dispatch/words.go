package dispatch

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// Language is the language of summaries and hints.
type Language string

// Languages of the protocol.
const (
	English Language = "en"
	Chinese Language = "zh"
)

// languageOf returns the language of a line: that of its verb or, without a verb, that of its script.
func languageOf(line string) Language {
	verb := verbPattern().FindString(line)
	if verb == "执行" || verb == "" && strings.ContainsFunc(line, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return Chinese
	}
	return English
}

// verbPattern matches the verb of a line in any of its forms.
var verbPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`执行|(?i:\b(?:execute|run)\b)`) })

// texts are the messages in one language.
type texts struct {
	done, written, prompt, submitted   string
	pending                            string
	notFound, metadata, param, runtime string
	timeout                            string

	near, install, reinstall, restore, ask, decide, split, wait string
}

func (l Language) texts() texts {
	if l == Chinese {
		return texts{
			done: "执行成功: %s", written: "执行成功: %s → %s",
			prompt: "提示词加载: %s", submitted: "任务已提交: %s",
			pending:  "等待参数: 需要 %s",
			notFound: "未安装技能: %s", metadata: "SKILL.md 损坏或缺失",
			param: "参数不足: 需要 %s", runtime: "执行失败: %s",
			timeout:   "执行超时 (>%s秒)",
			near:      "是否为 @%s? 否则",
			install:   "请先安装该技能: %s",
			reinstall: "请重新安装该技能: %s",
			restore:   "skillpm install (恢复技能包), 或 skillpm skills --all (查找该技能)", ask: "请向用户询问缺少的参数",
			decide: "请根据错误内容判断",
			split:  "请拆分任务", wait: "等待结果: %s",
		}
	}
	return texts{
		done: "done: %s", written: "done: %s → %s", prompt: "prompt loaded: %s", submitted: "task submitted: %s",
		pending:  "waiting for parameters: %s needed",
		notFound: "skill not installed: %s", metadata: "SKILL.md is damaged or missing",
		param:   "parameters missing: %s needed",
		runtime: "execution failed: %s", timeout: "execution timed out (> %s s)",
		near:    "did you mean @%s? Otherwise ",
		install: "ask the user to install the skill: %s", reinstall: "reinstall the skill: %s",
		restore: "restore packs with \"skillpm install\", or find the skill with \"skillpm skills --all\"",
		ask:     "ask the user for the missing information",
		decide:  "use the message to decide whether to fix the call or to stop",
		split:   "split the task into smaller tasks", wait: "wait for the result with: %s",
	}
}
