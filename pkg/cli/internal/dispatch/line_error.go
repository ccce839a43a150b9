package dispatch

import "fmt"

// lineProblem is a reason why a line is not a valid dispatch.
type lineProblem int

const (
	lineTooLong lineProblem = iota
	lineNotText
	otherAgent
	wrongDescription
	noSkillNamed
	noVerb
	tooManyArguments
	severalSteps
	openQuote
	wrongObject
	wrongTask
)

// lineError is the reason why a line is not a valid dispatch, in both languages.
type lineError struct {
	problem lineProblem
	args    []any
}

func newLineError(p lineProblem, args ...any) *lineError { return &lineError{p, args} }

// Error returns the reason in English.
func (e *lineError) Error() string {
	reason, _ := e.in(English)
	return reason
}

// in returns what is wrong, and how to fix it.
func (e *lineError) in(l Language) (reason, advice string) {
	format, advice := e.problem.english()
	if l == Chinese {
		format, advice = e.problem.chinese()
	}
	return fmt.Sprintf(format, e.args...), advice
}

func (p lineProblem) english() (reason, advice string) {
	const form, input = "write: execute @SKILL ARGUMENTS", "pass large input as a file, and its path as an argument"
	switch p {
	case lineTooLong:
		return "the line has %d bytes; the limit is %d", input
	case lineNotText:
		return "the line is not valid UTF-8 text", "send the line as UTF-8"
	case otherAgent:
		return "the task is for the agent %q, but this agent is %q", `write Task("skills", …)`
	case wrongDescription:
		return "the description %q does not have 3 to 5 words", "describe the task in 3 to 5 words"
	case noVerb:
		return "the line begins with %q instead of execute, run, or 执行", form
	case tooManyArguments:
		return "the line has more than %d arguments", input
	case severalSteps:
		return "the line has several steps, but a dispatch runs only one step",
			"dispatch each step separately from your own workflow, or quote the text if it is an argument"
	case openQuote:
		return "the quote %s is not closed", "close the quote, or escape the quote with a backslash"
	case wrongObject:
		return "cannot read the JSON object: %s",
			`write {"subagent_type": "skills", "description": "…", "prompt": "execute @SKILL ARGUMENTS"}`
	case wrongTask:
		return "cannot read the Task form: %s",
			`write Task("skills", "<3 to 5 words>", "execute @SKILL ARGUMENTS", {model: "sonnet"}) ` +
				"(the last argument is optional)"
	}
	return "the line does not name a skill", form
}

func (p lineProblem) chinese() (reason, advice string) {
	const form, input = "请写成: 执行 @<技能名> [参数]", "请把大段输入存为文件, 并以路径作为参数"
	switch p {
	case lineTooLong:
		return "指令有 %d 字节, 上限为 %d", input
	case lineNotText:
		return "指令不是有效的 UTF-8 文本", "请以 UTF-8 发送指令"
	case otherAgent:
		return "任务派发给 %q, 而本智能体是 %q", `请写成 Task("skills", …)`
	case wrongDescription:
		return "任务摘要 %q 不是 3 到 5 个词", "请用 3 到 5 个词概括任务"
	case noVerb:
		return "指令以 %q 开头, 应为 执行、execute 或 run", form
	case tooManyArguments:
		return "指令的参数超过 %d 个", input
	case severalSteps:
		return "指令包含多个步骤, 一次派发只执行一步", "请在自己的工作流中逐步派发; 若该文字是参数, 请加引号"
	case openQuote:
		return "引号 %s 没有闭合", "请闭合引号, 或用反斜杠转义"
	case wrongObject:
		return "无法读取 JSON 对象: %s", `请写成 {"subagent_type": "skills", "description": "…", "prompt": "执行 @<技能名> [参数]"}`
	case wrongTask:
		return "无法读取 Task 调用: %s",
			`请写成 Task("skills", "<3-5词任务摘要>", "执行 @<技能名> [参数]", {model: "sonnet"}), 最后一项可省略`
	}
	return "指令没有写明技能", form
}
