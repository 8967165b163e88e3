/* analyzer.h - what clang-tidy cannot know, because it reads one file at a time: jobs_error_set returns its code, so
 * nobody goes on behind a failure. Given to it by ./dev lint, for all files
 * but the one that defines the function; never part of a build. */
#ifndef JOBS_ANALYZER_H
#define JOBS_ANALYZER_H

#include "../core/include/jobs/error.h"

#define jobs_error_set(error, code, ...) ((void)(jobs_error_set)(error, code, __VA_ARGS__), (code))

#endif
